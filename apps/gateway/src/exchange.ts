import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Fields, Principal } from '@acsp/rpc';
import { clientAddress, type Trust } from './client-address.js';
import type { Route } from './route.js';

/** One request on its way through the gateway, and what became known of it so far. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Path and query as they were sent: what a query signature covers. */
  readonly target: string;
  /** Of the client. */
  readonly address: string;
  readonly startedAt: number;
  /** Of the answer, whoever gives it. They are written with its head in one go, which costs half of setting them one by one. */
  readonly headers: OutgoingHttpHeaders;
  /** `GET /api/acsp/tasks/{id}`, once it is known. */
  pattern: string | undefined;
  /** The bytes of the body, where something had to look at them. */
  body: Buffer | undefined;
  fields: Fields | undefined;
  caller: Principal | undefined;
  /** The signature that has to be used up before the request goes on. */
  signature: SpendableSignature | undefined;
  /** Of the error that was answered. */
  code: string | undefined;
}

export interface SpendableSignature {
  readonly signature: string;
  readonly ttlSeconds: number;
}

/** A request whose operation is known. */
export interface Call extends Exchange {
  readonly route: Route;
}

const idForm = /^[A-Za-z0-9._-]{1,128}$/;

export function openExchange(request: IncomingMessage, response: ServerResponse, trust: Trust): Exchange {
  const own = request.headers['x-request-id'];
  const requestId = typeof own === 'string' && idForm.test(own) ? own : randomUUID();
  return {
    request,
    response,
    requestId,
    target: request.url ?? '/',
    address: clientAddress(request, trust),
    startedAt: performance.now(),
    headers: { 'X-Request-Id': requestId },
    pattern: undefined,
    body: undefined,
    fields: undefined,
    caller: undefined,
    signature: undefined,
    code: undefined,
  };
}
