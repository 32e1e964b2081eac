import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type OpenServer, openServer } from '@acsp/http';
import { metricsContentType, renderMetrics } from '@acsp/telemetry';
import type { Health } from './create-health.js';

export interface OpsOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** All addresses when absent. */
  readonly host?: string;
  readonly health: Health;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/**
 * The operator's door: `/livez` (200 while the process runs), `/readyz` (200, or 503 with the checks that fail) and `/metrics`
 * (Prometheus text). It is a port of its own so that none of it is reachable from outside. Rejects when the port is taken.
 */
export function serveOps({ port, host, health }: OpsOptions): Promise<OpenServer> {
  const server = createServer((request, response) => void respond(health, request, response));
  return openServer(server, { port, host, drainMs: 0 });
}

async function respond(health: Health, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, type, body } = await answer(health, request).catch(() => text(500, 'failed'));
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
}

async function answer(health: Health, { method, url = '' }: IncomingMessage): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'method not allowed');
  switch (url.split('?', 1)[0]) {
    case '/livez':
      return text(200, 'ok');
    case '/readyz': {
      const readiness = await health.ready();
      return { status: readiness.ready ? 200 : 503, type: 'application/json', body: JSON.stringify(readiness) };
    }
    case '/metrics':
      return { status: 200, type: metricsContentType, body: await renderMetrics() };
    default:
      return text(404, 'not found');
  }
}

const text = (status: number, body: string): Answer => ({
  status,
  type: 'text/plain; charset=utf-8',
  body: `${body}\n`,
});
