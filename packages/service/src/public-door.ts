import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { RepeatedError } from '@acsp/database';
import { AppError, catalogue, toProblem } from '@acsp/errors';
import { closeServer, listen, parseBody, pathOf, queryFields, readBody, type StreamedEvent, send, sendEvents, sendProblem, urlOf } from '@acsp/http';
import {
  type Call,
  type Fields,
  type KeptAnswer,
  type Once,
  type Principal,
  pathParameters,
  perform,
  principalHeader,
  type Reply,
  type Route,
  toJson,
} from '@acsp/operation';
import { span } from '@acsp/telemetry';
import { recordEnd, refusal, type Served, type Serving, servedBy } from './serving.js';

export interface PublicDoor extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4103`. */
  readonly url: string;
}

const drainMs = 5_000;
/** When the gateway stops waiting, less the time for the answer. */
const deadlineMs = 25_000;
/** Room for all that the gateway takes (Node's 16 KiB) and for what it adds. */
const maxHeaderSize = 32 * 1024;

interface Door extends Serving {
  readonly served: ReadonlyMap<string, Served>;
  readonly draining: AbortSignal;
}

/** The public door of a service: what the gateway forwards, each request with a signed principal that names its operation. */
export async function servePublicDoor(options: Serving & { readonly port: number }): Promise<PublicDoor> {
  const draining = new AbortController();
  const door: Door = { ...options, served: servedBy(options), draining: draining.signal };
  const settings = { keepAliveTimeout: 65_000, requestTimeout: 30_000, maxHeaderSize };
  const server = createServer(settings, (request, response) => void serve(door, request, response));
  // However many the caller sent, those that the gateway added must not be dropped.
  server.maxHeadersCount = 0;
  const port = await listen(server, options.port, options.host);
  return {
    url: urlOf(options.host, port),
    async [Symbol.asyncDispose]() {
      draining.abort();
      await closeServer(server, drainMs);
    },
  };
}

async function serve(door: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const startedAt = performance.now();
  let found: Served | undefined;
  let caller: Principal | undefined;
  let code = 'OK';
  try {
    caller = door.principals.verify(request.headers[principalHeader] as string | undefined);
    found = door.served.get(caller.rpc ?? '');
    if (found?.route === undefined) throw notHere();
    const exchange = { door, request, response, served: found, route: found.route, caller };
    const parent = { traceparent: request.headers.traceparent as string };
    await span(found.route.rpc, { kind: 'server', parent }, () => answer(exchange));
  } catch (thrown) {
    // A client that broke off hears nothing, and must not fill the log.
    if (response.destroyed) code = 'CLIENT_GONE';
    else {
      const error = refusal(door.log, { door: 'public', desc: found?.desc, startedAt }, thrown, caller);
      code = error.code;
      sendProblem(response, error, caller?.requestId ?? String(request.headers['x-request-id'] ?? ''));
    }
  }
  recordEnd({ door: 'public', desc: found?.desc, startedAt }, code);
}

/** The gateway forwards what the interface has: an operation that this service lacks is one that a later version of it has. */
const notHere = () => new AppError('SERVICE_UNAVAILABLE', { detail: 'This operation is not available here' });

interface Exchange {
  readonly door: Door;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly served: Served;
  readonly route: Route;
  readonly caller: Principal;
}

async function answer(exchange: Exchange): Promise<void> {
  const { response, route, served } = exchange;
  const streams = served.desc.methodKind === 'server_streaming';
  const call = callOf(exchange, streams);
  const fields = await readFields(exchange, streams);
  if (streams) {
    const events = run(exchange, call, fields) as AsyncIterable<StreamedEvent>;
    return sendEvents(response, events, call.reply.headers);
  }
  if (call.once !== undefined) return answerOnce(exchange, { ...call, once: call.once }, fields);
  const output = await run(exchange, call, fields);
  const { status, body } = encode(route, call.reply, output);
  send(response, { status, body, headers: call.reply.headers });
}

function run({ door, served, route }: Exchange, call: Call, fields: Fields): unknown {
  return perform(served.operation, route, { context: door.context, fields, call });
}

function callOf({ door, response, route, caller }: Exchange, streams: boolean): Call {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const reply: Reply = { headers: {} };
  return {
    caller,
    signal: streams ? AbortSignal.any([gone.signal, door.draining]) : gone.signal,
    deadline: streams ? Number.POSITIVE_INFINITY : Date.now() + deadlineMs,
    once: onceOf(route, caller, reply),
    reply,
  };
}

function onceOf(route: Route, { idempotency }: Principal, reply: Reply): Once | undefined {
  if (idempotency === undefined || route.secret) return undefined;
  return { ...idempotency, encode: (answer) => textOf(encode(route, reply, answer)) };
}

function encode({ desc, answer, status }: Route, reply: Reply, output: unknown) {
  const json = toJson(desc.output, output);
  const body = answer === undefined ? json : json[answer];
  return { status: reply.status ?? status, body: body instanceof Uint8Array ? body : JSON.stringify(body) };
}

const textOf = ({ status, body }: ReturnType<typeof encode>): KeptAnswer => ({
  status,
  body: typeof body === 'string' ? body : Buffer.from(body).toString(),
});

async function readFields({ request, route }: Exchange, streams: boolean): Promise<Fields> {
  const target = request.url ?? '/';
  const inPath = pathParameters(route.path, pathOf(target));
  if (route.method === 'GET') {
    // A browser's EventSource says in a header where it stopped, and repeats its URL as it was.
    const resumed = streams ? request.headers['last-event-id'] : undefined;
    return { ...queryFields(target), ...(resumed !== undefined && { last_event_id: resumed }), ...inPath };
  }
  const raw = await readBody(request, route.maxBodyBytes);
  if (route.body !== undefined) return { ...queryFields(target), ...inPath, [route.body]: raw };
  return { ...parseBody(raw), ...inPath };
}

/** The first answer under an Idempotency-Key, whichever request it came out of: see `Database.transaction`. */
async function answerOnce(exchange: Exchange, call: Call & { readonly once: Once }, fields: Fields): Promise<void> {
  const { answers } = exchange.door;
  const kept = await answers.find(call.once);
  if (kept !== undefined) return replay(exchange, kept);
  try {
    const output = await run(exchange, call, fields);
    const answer = call.once.encode(output);
    // Does nothing where the change has kept it already.
    await answers.keep(call.once, answer);
    send(exchange.response, { ...answer, headers: call.reply.headers });
  } catch (thrown) {
    if (thrown instanceof RepeatedError) return replay(exchange, await answers.find(call.once));
    if (thrown instanceof AppError && catalogue[thrown.code].http < 500) {
      const body = JSON.stringify(toProblem(thrown, call.caller.requestId));
      await answers.keep(call.once, { status: catalogue[thrown.code].http, body });
    }
    throw thrown;
  }
}

function replay({ response }: Exchange, kept: KeptAnswer | undefined): void {
  if (kept === undefined) throw new AppError('SERVICE_UNAVAILABLE');
  const contentType = kept.status < 400 ? 'application/json' : 'application/problem+json';
  send(response, { ...kept, contentType, headers: { 'Idempotency-Replayed': 'true' } });
}
