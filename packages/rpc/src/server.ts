import { type AppError, toAppError } from '@acsp/errors';
import { counter, span } from '@acsp/telemetry';
import { create, type Message, toJson } from '@bufbuild/protobuf';
import { type handleUnaryCall, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { connectionOptions, methodsOf, type UnaryMethod } from './definition.js';
import { addHealthAndReflection } from './health-and-reflection.js';
import type { Fields } from './operation.js';
import { perform, type Serving } from './perform.js';
import { type Principal, principalHeader } from './principal.js';
import { toStatus } from './status.js';

export interface RpcServerOptions extends Serving {
  /** 0 takes a free port. */
  readonly port: number;
}

export interface RpcServer extends AsyncDisposable {
  /** `host:port` as clients dial it. */
  readonly address: string;
  /** What gRPC health answers; starts as serving. */
  setServing(serving: boolean): void;
}

const calls = counter('acsp_rpc_calls_total', 'gRPC calls served, by method and code', ['method', 'code']);
const drainMs = 5_000;

/** The contract door: every call needs a principal, runs its operation, and answers with the catalogue's errors. */
export async function serveRpc(options: RpcServerOptions): Promise<RpcServer> {
  const server = new Server({
    ...connectionOptions,
    // Clients behind a headless Service find new replicas only when they dial again.
    'grpc.max_connection_age_ms': 45_000,
    'grpc.max_connection_age_grace_ms': 30_000,
  });
  const methods = methodsOf(options.service);
  const handlers = [...methods].map(([name, method]) => [name, unary(options, name, method)]);
  server.addService(Object.fromEntries(methods) as ServiceDefinition, Object.fromEntries(handlers));
  const setServing = addHealthAndReflection(server, options.service);
  const port = await listen(server, `${options.host}:${options.port}`);
  return { address: `${options.host}:${port}`, setServing, [Symbol.asyncDispose]: () => drain(server) };
}

function unary(options: RpcServerOptions, name: string, method: UnaryMethod): handleUnaryCall<Message, Message> {
  const operation = options.operations[name];
  if (operation === undefined) throw new Error(`no operation for ${method.path}`);
  const run = async (request: Message, token: string | undefined) => {
    const caller = options.principals.verify(token);
    const fields = toJson(method.desc.input, request, { useProtoFieldName: true }) as Fields;
    return perform(operation, options, actingFor(caller, fields), caller);
  };
  return (call, callback) => {
    const header = (key: string) => call.metadata.get(key)[0]?.toString();
    const parent = { traceparent: header('traceparent') ?? '' };
    span(`rpc ${method.path}`, { kind: 'server', parent }, () => run(call.request, header(principalHeader))).then(
      (answer) => {
        calls.inc({ method: method.path, code: 'OK' });
        callback(null, create(method.desc.output, answer));
      },
      (thrown) => {
        const error = toAppError(thrown);
        calls.inc({ method: method.path, code: error.code });
        logInternal(options.log, method.path, error);
        callback(toStatus(error));
      },
    );
  };
}

/** Where the public door asks for the caller's `aid`, the principal of a contract call already names it. */
const actingFor = (caller: Principal, fields: Fields): Fields =>
  caller.aid === undefined || 'aid' in fields ? fields : { ...fields, aid: caller.aid };

function logInternal(log: RpcServerOptions['log'], method: string, error: AppError): void {
  if (error.cause !== undefined) log.error({ err: error.cause, code: error.code, method }, 'call failed');
}

function listen(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
}

function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.forceShutdown(), drainMs);
    server.tryShutdown(() => {
      clearTimeout(force);
      resolve();
    });
  });
}
