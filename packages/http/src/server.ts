import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError, toAppError } from '@acsp/errors';
import { type AnyOperation, type Fields, perform, principalHeader, type Serving, toPublicJson } from '@acsp/rpc';
import { span } from '@acsp/telemetry';
import type { DescMessage } from '@bufbuild/protobuf';
import express from 'express';
import { parseBody, queryFields, readBody } from './body.js';
import { sendJson, sendProblem } from './respond.js';
import { type Match, routeTable } from './route-table.js';

export interface HttpServerOptions extends Serving {
  /** 0 takes a free port. */
  readonly port: number;
  /** 64 KiB when absent. */
  readonly maxBodyBytes?: number;
}

export interface HttpServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4103`. */
  readonly url: string;
}

type Row = AnyOperation & { readonly http: string; readonly output: DescMessage };

const drainMs = 5_000;

/** The public door of a service: what the gateway forwards, each request with a signed principal. */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const rows = options.service.methods.flatMap(({ localName, output }): Row[] => {
    const operation = options.operations[localName];
    return operation?.http === undefined ? [] : [{ ...operation, http: operation.http, output }];
  });
  const match = routeTable(rows);
  const app = express().disable('x-powered-by').disable('query parser');
  app.use((request, response) => {
    answer(options, match, request, response).catch((error) => refuse(options.log, request, response, error));
  });
  const server = createServer({ keepAliveTimeout: 65_000, requestTimeout: 30_000 }, app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://${options.host}:${port}`, [Symbol.asyncDispose]: () => closeServer(server, drainMs) };
}

type Matcher = ReturnType<typeof routeTable<Row>>;

async function answer(options: HttpServerOptions, match: Matcher, request: IncomingMessage, response: ServerResponse) {
  const target = request.url ?? '/';
  const [path = ''] = target.split('?', 1);
  const found = match(request.method ?? '', path);
  if (!('rows' in found)) throw notHere();
  const caller = options.principals.verify(request.headers[principalHeader] as string | undefined);
  const fields = await readFields(request, found, options.maxBodyBytes ?? 64 * 1024);
  const row = found.rows.find(({ when }) => when === undefined || when(fields));
  if (row === undefined) throw notHere();
  const parent = { traceparent: request.headers.traceparent as string };
  const body = await span(row.http, { kind: 'server', parent }, () => perform(row, options, fields, caller));
  sendJson(response, row.status, toPublicJson(row.output, body));
}

/** The gateway forwards what the interface has: an operation that this service lacks is one that a later version of it has. */
const notHere = () => new AppError('SERVICE_UNAVAILABLE', { detail: 'This operation is not available here' });

async function readFields(request: IncomingMessage, { parameters }: Match<Row>, maxBytes: number): Promise<Fields> {
  if (request.method === 'POST') return { ...parseBody(await readBody(request, maxBytes)), ...parameters };
  return { ...queryFields(request.url ?? ''), ...parameters };
}

function refuse(
  log: HttpServerOptions['log'],
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
): void {
  const error = toAppError(thrown);
  const requestId = String(request.headers['x-request-id'] ?? '');
  if (error.cause !== undefined) {
    log.error(
      { err: error.cause, code: error.code, request_id: requestId, path: request.url?.split('?', 1)[0] },
      'request failed',
    );
  }
  sendProblem(response, error, requestId);
}

/** 404, or 405 with Allow. */
export function noRoute(allow: readonly string[], response: ServerResponse): AppError {
  if (allow.length === 0) return new AppError('NOT_FOUND');
  response.setHeader('Allow', [...allow, ...(allow.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', '));
  return new AppError('METHOD_NOT_ALLOWED');
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
