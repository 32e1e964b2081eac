import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Fields, Idempotency, Principal, Route } from '@acsp/operation';
import { clientAddress, type Trust } from './client-address.js';

/** The caller, as its credential shows it. */
export type Caller = Pick<Principal, 'aid' | 'claimedAid' | 'name' | 'via' | 'signedAt' | 'registeredAt'>;

/** One request on its way through the gateway, and what became known of it so far. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Path and query as they were sent: what a query signature covers. */
  readonly target: string;
  /** Host and port that the client meant. */
  readonly host: string | undefined;
  /** The client's. */
  readonly address: string;
  readonly startedAt: number;
  /** They go out with the head of the answer, the gateway's or the service's, in one write, which costs half of setting them one by one. */
  readonly headers: OutgoingHttpHeaders;
  /** `GET /api/acsp/tasks/{id}`, once it is known. */
  pattern: string | undefined;
  /** The bytes of the body, where something had to look at them. */
  body: Buffer | undefined;
  fields: Fields | undefined;
  caller: Caller | undefined;
  idempotency: Idempotency | undefined;
  /** The signature that has to be used up before the request goes on. */
  signature: SpendableSignature | undefined;
  /** It has been counted against its address. */
  countedByAddress: boolean;
  /** The code of the error that was answered. */
  code: string | undefined;
}

export interface SpendableSignature {
  readonly signature: string;
  readonly ttlSeconds: number;
}

/** A request whose operation is known. */
export interface Call extends Exchange {
  route: Route;
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
    host: request.headers.host,
    address: clientAddress(request, trust),
    startedAt: performance.now(),
    headers: { 'X-Request-Id': requestId },
    pattern: undefined,
    body: undefined,
    fields: undefined,
    caller: undefined,
    idempotency: undefined,
    signature: undefined,
    countedByAddress: false,
    code: undefined,
  };
}
