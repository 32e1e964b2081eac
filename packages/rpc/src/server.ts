import { toAppError } from '@acsp/errors';
import { span } from '@acsp/telemetry';
import type { DescMethod, DescService, Message } from '@bufbuild/protobuf';
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { connectionOptions, definitionOf, definitionsOf } from './definition.js';
import { addHealthAndReflection } from './health-and-reflection.js';
import { toStatus } from './status.js';

/** A call as it came in. */
export interface RpcCall {
  readonly header: (name: string) => string | undefined;
  /** Ends when the client goes, its deadline passes or the server is closed by force; that of a stream as soon as the server closes. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970; Infinity where the client waits for ever. */
  readonly deadline: number;
}

export interface RpcServerOptions {
  readonly service: DescService;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** A promise for a unary rpc, an iterable for a stream. An error reaches the client as its AppError. */
  readonly handle: (method: DescMethod, request: Message, call: RpcCall) => Promise<Message> | AsyncIterable<Message>;
}

export interface RpcServer extends AsyncDisposable {
  /** `host:port` as clients dial it. */
  readonly address: string;
  /** Sets the answer of gRPC health, which starts as serving. */
  setServing(serving: boolean): void;
}

const drainMs = 5_000;

/** Serves one service, with gRPC health and reflection beside it. */
export async function serveRpc(options: RpcServerOptions): Promise<RpcServer> {
  const { service, host, port } = options;
  const server = new Server({
    ...connectionOptions,
    // Clients behind a headless Service find new replicas only when they dial again.
    'grpc.max_connection_age_ms': 45_000,
    'grpc.max_connection_age_grace_ms': 30_000,
  });
  const streams = new Set<AbortController>();
  const handlers = service.methods.map((desc) => [
    desc.localName,
    desc.methodKind === 'server_streaming' ? streaming(options, desc, streams) : unary(options, desc),
  ]);
  server.addService(definitionsOf(service) as ServiceDefinition, Object.fromEntries(handlers));
  const setServing = addHealthAndReflection(server, service);
  const bound = await listen(server, `${host.includes(':') ? `[${host}]` : host}:${port}`);
  return {
    address: `${dialled(host)}:${bound}`,
    setServing,
    [Symbol.asyncDispose]() {
      for (const stream of streams) stream.abort();
      return drain(server);
    },
  };
}

/** The host that clients on this machine dial. A wildcard address becomes loopback. */
function dialled(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

function unary({ handle }: RpcServerOptions, desc: DescMethod): handleUnaryCall<Message, Message> {
  const name = `rpc ${definitionOf(desc).path}`;
  return (call, callback) => {
    const run = async () =>
      (await handle(
        desc,
        call.request,
        callOf(call, () => endOf(call)),
      )) as Message;
    span(name, { kind: 'server', parent: traceOf(call.metadata) }, run).then(
      (answer) => callback(null, answer),
      (thrown) => callback(toStatus(toAppError(thrown))),
    );
  };
}

function streaming(
  { handle }: RpcServerOptions,
  desc: DescMethod,
  open: Set<AbortController>,
): handleServerStreamingCall<Message, Message> {
  return async (call) => {
    const ending = endOf(call);
    open.add(ending);
    try {
      const items = handle(
        desc,
        call.request,
        callOf(call, () => ending),
      ) as AsyncIterable<Message>;
      for await (const item of items) {
        if (ending.signal.aborted) break;
        if (!call.write(item)) await drained(call, ending.signal);
      }
      call.end();
    } catch (thrown) {
      // Not destroy(): it would leave the client waiting for ever.
      call.emit('error', toStatus(toAppError(thrown)));
    } finally {
      open.delete(ending);
    }
  };
}

/** Waits while the client reads slower than we write. */
function drained(call: ServerWritableStream<Message, Message>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      call.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted) resolve();
    else {
      call.once('drain', done);
      signal.addEventListener('abort', done, { once: true });
    }
  });
}

type ServerCall = ServerUnaryCall<Message, Message> | ServerWritableStream<Message, Message>;

/** Most handlers never look at their signal, so it is made when they do. */
function callOf(call: ServerCall, end: () => AbortController): RpcCall {
  const deadline = call.getDeadline();
  let ending: AbortController | undefined;
  return {
    header: (name) => call.metadata.get(name)[0]?.toString(),
    deadline: typeof deadline === 'number' ? deadline : deadline.getTime(),
    get signal() {
      ending ??= end();
      return ending.signal;
    },
  };
}

/** Aborts with the client's cancellation and with its deadline. */
function endOf(call: ServerCall): AbortController {
  const ending = new AbortController();
  if (call.cancelled) ending.abort();
  else call.on('cancelled', () => ending.abort());
  return ending;
}

const traceOf = (metadata: Metadata) => ({ traceparent: metadata.get('traceparent')[0]?.toString() ?? '' });

function listen(server: Server, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(bindError(error, address)) : resolve(port),
    );
  });
}

/** grpc-js says why in words only. */
function bindError(error: Error, address: string): Error {
  const unresolved = error.message.startsWith('Name resolution failed') ? 'ENOTFOUND' : undefined;
  const code = unresolved ?? /\bE[A-Z]{4,}\b/.exec(error.message)?.[0];
  return Object.assign(error, { code, port: Number(address.slice(address.lastIndexOf(':') + 1)) });
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
