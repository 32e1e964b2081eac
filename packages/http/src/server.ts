import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError, toAppError } from '@acsp/errors';
import { type AnyOperation, type Fields, perform, principalHeader, type Serving, toPublicJson } from '@acsp/rpc';
import { span } from '@acsp/telemetry';
import type { DescMessage } from '@bufbuild/protobuf';
import { parseBody, queryFields, readBody } from './body.js';
import { sendJson, sendProblem } from './respond.js';
import { type Match, type RouteTable, routeTable } from './route-table.js';

export interface HttpServerOptions extends Serving {
  /** 0 takes a free port. */
  readonly port: number;
}

export interface HttpServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4103`. */
  readonly url: string;
}

type Row = AnyOperation & { readonly http: string; readonly output: DescMessage };

const drainMs = 5_000;
const maxBodyBytes = 64 * 1024;

/** Room for all that the gateway takes (Node's 16 KiB) and for what it adds. */
const maxHeaderSize = 32 * 1024;

/** The public door of a service: what the gateway forwards, each request with a signed principal. */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const rows = options.service.methods.flatMap(({ localName, output }): Row[] => {
    const operation = options.operations[localName];
    return operation?.http === undefined ? [] : [{ ...operation, http: operation.http, output }];
  });
  const match = routeTable(rows);
  const server = createServer(
    { keepAliveTimeout: 65_000, requestTimeout: 30_000, maxHeaderSize },
    (request, response) => {
      const [path = ''] = (request.url ?? '/').split('?', 1);
      const found = match(request.method ?? '', path);
      answer(options, found, request, response).catch((error) => refuse(options.log, found, response, error));
    },
  );
  // However many the caller sent, those that the gateway added must not be dropped.
  server.maxHeadersCount = 0;
  const port = await listen(server, options.port, options.host);
  return { url: `http://${options.host}:${port}`, [Symbol.asyncDispose]: () => closeServer(server, drainMs) };
}

type Found = ReturnType<RouteTable<Row>>;

async function answer(options: HttpServerOptions, found: Found, request: IncomingMessage, response: ServerResponse) {
  if (!('rows' in found)) throw notHere();
  const caller = options.principals.verify(request.headers[principalHeader] as string | undefined);
  const fields = await readFields(request, found);
  const row = found.rows.find(({ when }) => when === undefined || when(fields));
  if (row === undefined) throw notHere();
  const parent = { traceparent: request.headers.traceparent as string };
  const body = await span(row.http, { kind: 'server', parent }, () => perform(row, options, fields, caller));
  sendJson(response, row.status, toPublicJson(row.output, body));
}

/** The gateway forwards what the interface has: an operation that this service lacks is one that a later version of it has. */
const notHere = () => new AppError('SERVICE_UNAVAILABLE', { detail: 'This operation is not available here' });

async function readFields(request: IncomingMessage, { parameters }: Match<Row>): Promise<Fields> {
  if (request.method === 'POST') return { ...parseBody(await readBody(request, maxBodyBytes)), ...parameters };
  return { ...queryFields(request.url ?? ''), ...parameters };
}

function refuse(log: HttpServerOptions['log'], found: Found, response: ServerResponse, thrown: unknown): void {
  // Whoever broke off hears nothing, and must not fill the log.
  if (response.destroyed) return;
  const error = toAppError(thrown);
  const requestId = String(response.req.headers['x-request-id'] ?? '');
  if (error.cause !== undefined) {
    // The pattern and not the path, which may hold a secret: the token of a connect link.
    const route = 'rows' in found ? found.rows[0]?.http : undefined;
    log.error({ err: error.cause, code: error.code, route, request_id: requestId }, 'request failed');
  }
  sendProblem(response, error, requestId);
}

/** Opens the server and answers its port, a free one for 0. Rejects when the port is taken. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Takes no new connection, lets running requests end, and cuts what is left after `graceMs`. */
export function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection that was busy when closing began is idle after its answer, and nobody else closes it.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(force);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });
}
