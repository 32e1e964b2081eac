import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type AppError, catalogue, toProblem } from '@acsp/errors';

export interface Answer {
  readonly status: number;
  readonly body: string | Uint8Array;
  /** `application/json` when absent. */
  readonly contentType?: string;
  readonly headers?: OutgoingHttpHeaders;
}

/** Answers of the API are private to the caller and of the moment, so nothing on the way may keep them. */
export function send(
  response: ServerResponse,
  { status, body, contentType = 'application/json', headers }: Answer,
): void {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength,
    'Cache-Control': 'no-store',
    // RFC 9110 11.6.1 wants a challenge with each 401.
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer realm="acsp"' }),
    ...headers,
  });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/** Answers with RFC 9457 and the headers that belong to the error. */
export function sendProblem(
  response: ServerResponse,
  error: AppError,
  requestId: string,
  headers?: OutgoingHttpHeaders,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = catalogue[error.code].http;
  send(response, {
    status,
    body: JSON.stringify(toProblem(error, requestId)),
    contentType: 'application/problem+json',
    headers: {
      ...(error.retryAfterSeconds !== undefined && { 'Retry-After': Math.ceil(error.retryAfterSeconds) }),
      // Node would parse the rest of an unread body as the next request.
      ...(!response.req.complete && { Connection: 'close' }),
      ...headers,
    },
  });
}
