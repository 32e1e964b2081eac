import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { AppError, catalogue, toProblem } from '@acsp/errors';
import {
  createOpenStreams,
  type OpenServer,
  type OpenStreams,
  openServer,
  parseBody,
  pathOf,
  queryFields,
  readBody,
  type StreamedEvent,
  send,
  sendEvents,
  sendProblem,
} from '@acsp/http';
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
} from '@acsp/operation';
import { span } from '@acsp/telemetry';
import { encode, textOf } from './encode-answer.js';
import { createSendLarge, largeFrom, type SendLarge } from './large-answers.js';
import { type Answering, recordEnd, refusal, type Served, type Serving, servedBy } from './serving.js';

const drainMs = 5_000;
/** When the gateway stops waiting, less the time for the answer. */
const deadlineMs = 25_000;
/** The gateway accepts Node's 16 KiB and adds headers of its own. */
const maxHeaderSize = 32 * 1024;

interface Door extends Serving {
  readonly served: ReadonlyMap<string, Served>;
  readonly draining: AbortSignal;
  readonly sendLarge: SendLarge;
  readonly streams: OpenStreams;
}

export interface PublicDoor extends OpenServer {
  /** Ends the streams, and from then on each that opens. */
  endStreams(): void;
}

/** The public door of a service: what the gateway forwards, each request with a signed principal that names its operation. */
export async function servePublicDoor(options: Serving & { readonly port: number }): Promise<PublicDoor> {
  const draining = new AbortController();
  const [sendLarge, streams] = [createSendLarge(), createOpenStreams()];
  const door: Door = { ...options, served: servedBy(options), draining: draining.signal, sendLarge, streams };
  const settings = { keepAliveTimeout: 65_000, requestTimeout: 30_000, maxHeaderSize };
  const server = createServer(settings, (request, response) => void serve(door, request, response));
  // Node drops headers beyond a count: those that the gateway added must get through, however many the caller sent.
  server.maxHeadersCount = 0;
  const open = await openServer(server, { port: options.port, host: options.host, drainMs });
  const endStreams = () => {
    draining.abort();
    door.streams.closeAll();
  };
  return {
    ...open,
    endStreams,
    async [Symbol.asyncDispose]() {
      endStreams();
      await open[Symbol.asyncDispose]();
    },
  };
}

async function serve(door: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answering: Answering = { door: 'public', startedAt: performance.now() };
  let code = 'OK';
  try {
    const caller = door.principals.verify(request.headers[principalHeader] as string | undefined);
    answering.caller = caller;
    const served = door.served.get(caller.rpc ?? '');
    if (served?.route === undefined) throw notHere();
    answering.desc = served.desc;
    const exchange = { door, request, response, served, route: served.route, caller };
    const parent = { traceparent: request.headers.traceparent as string };
    await span(caller.rpc ?? '', { kind: 'server', parent }, () => answer(exchange));
  } catch (thrown) {
    // A client that broke off hears nothing, and must not fill the log.
    if (response.destroyed) code = 'CLIENT_GONE';
    else {
      const error = refusal(door, answering, thrown);
      code = error.code;
      sendProblem(response, error, answering.caller?.requestId ?? String(request.headers['x-request-id'] ?? ''));
    }
  }
  recordEnd(answering, code);
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
  const { door, response, route, served } = exchange;
  if (served.desc.methodKind === 'server_streaming') return stream(exchange);
  const call = callOf(exchange, Date.now() + deadlineMs);
  const fields = await readFields(exchange);
  if (call.once !== undefined) return answerOnce(exchange, call, { once: call.once, fields });
  const output = await run(exchange, call, fields);
  const sent = { ...encode(route, call.reply, output), headers: call.reply.headers };
  if (route.method === 'GET' && sent.body.length >= largeFrom) await door.sendLarge(response, sent);
  else send(response, sent);
}

async function stream(exchange: Exchange): Promise<void> {
  const { request, response, door } = exchange;
  const call = callOf(exchange, Number.POSITIVE_INFINITY);
  // A browser's EventSource says in a header where it stopped, and repeats its URL as it was. An empty one says that it has nothing (HTML 9.2.4).
  const resumed = request.headers['last-event-id'] || undefined;
  const fields = { ...(await readFields(exchange)), ...(resumed !== undefined && { last_event_id: resumed }) };
  try {
    const events = run(exchange, call, fields) as AsyncIterable<StreamedEvent>;
    await sendEvents(response, events, { own: call.reply.headers, streams: door.streams });
  } catch (error) {
    if (!call.signal.aborted) throw error;
    response.end();
  }
}

function run({ door, served, route }: Exchange, call: Call, fields: Fields): unknown {
  return perform(served.operation, route, { context: door.context, fields, call });
}

function callOf(exchange: Exchange, deadline: number): Call {
  const { route, caller } = exchange;
  const reply: Reply = { headers: {} };
  let signal: AbortSignal | undefined;
  return {
    caller,
    deadline,
    once: onceOf(route, caller, reply),
    reply,
    // Most handlers never look at it, so it is made when they do.
    get signal() {
      signal ??= endOf(exchange, deadline);
      return signal;
    },
  };
}

/** Streams end as soon as the process drains; other calls are given the time until their connections are cut. */
function endOf({ door, response }: Exchange, deadline: number): AbortSignal {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = Number.isFinite(deadline) ? setTimeout(end, deadline - Date.now()) : undefined;
  if (timer === undefined) door.draining.addEventListener('abort', end, { once: true });
  response.once('close', () => {
    clearTimeout(timer);
    door.draining.removeEventListener('abort', end);
    if (!response.writableFinished) end();
  });
  if (response.destroyed || (timer === undefined && door.draining.aborted)) end();
  return ending.signal;
}

function onceOf(route: Route, { idempotency }: Principal, reply: Reply): Once | undefined {
  if (idempotency === undefined || route.secret) return undefined;
  return { ...idempotency, encode: (answer) => textOf(encode(route, reply, answer)) };
}

async function readFields({ request, route }: Exchange): Promise<Fields> {
  const target = request.url ?? '/';
  const inPath = pathParameters(route.path, pathOf(target));
  if (route.method === 'GET') return { ...queryFields(target), ...inPath };
  const raw = await readBody(request, route.maxBodyBytes);
  if (route.body !== undefined) return { ...queryFields(target), ...inPath, [route.body]: raw };
  return { ...parseBody(raw), ...inPath };
}

interface Keeping {
  readonly once: Once;
  readonly fields: Fields;
}

/**
 * Answers a request under an Idempotency-Key. The answer that is kept first stands, whichever request it came out of: a request beside it is given
 * that one too, because its own may be a refusal of what the first has done.
 */
async function answerOnce(exchange: Exchange, call: Call, { once, fields }: Keeping): Promise<void> {
  const { response, door } = exchange;
  const before = await door.answers.find(once);
  if (before !== undefined) return replay(response, before);
  try {
    const own = once.encode(await run(exchange, call, fields));
    const kept = await door.answers.keep(once, own);
    if (kept.body !== own.body) return replay(response, kept);
    send(response, { ...own, headers: call.reply.headers });
  } catch (thrown) {
    const kept = await standsInstead(exchange, once, thrown);
    if (kept === undefined) throw thrown;
    replay(response, kept);
  }
}

/** The answer that was kept before this error. Without one the refusal itself is kept, unless it is to be retried. */
async function standsInstead({ door, caller }: Exchange, once: Once, thrown: unknown): Promise<KeptAnswer | undefined> {
  const lasts =
    thrown instanceof AppError && catalogue[thrown.code].http < 500 && thrown.retryAfterSeconds === undefined;
  if (!lasts) return door.answers.find(once);
  const own = { status: catalogue[thrown.code].http, body: JSON.stringify(toProblem(thrown, caller.requestId)) };
  const kept = await door.answers.keep(once, own);
  return kept.body === own.body ? undefined : kept;
}

function replay(response: ServerResponse, kept: KeptAnswer): void {
  const contentType = kept.status < 400 ? 'application/json' : 'application/problem+json';
  send(response, { ...kept, contentType, headers: { 'Idempotency-Replayed': 'true' } });
}
