import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type AppError, catalogue, toProblem } from '@acsp/errors';

/** Answers with JSON. Answers of the API are private to the caller and of the moment, so nothing on the way may keep them. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  contentType = 'application/json',
): void {
  // As a string, so that head and body leave in one write.
  const text = JSON.stringify(body);
  const headers: OutgoingHttpHeaders = { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(text) };
  if (!response.hasHeader('Cache-Control')) headers['Cache-Control'] = 'no-store';
  response.writeHead(status, headers);
  response.end(response.req.method === 'HEAD' ? undefined : text);
}

/** Answers with RFC 9457 and the headers that belong to the error. */
export function sendProblem(response: ServerResponse, error: AppError, requestId: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // What is left of a body that nobody reads would be taken for the next request.
  if (!response.req.complete) response.setHeader('Connection', 'close');
  if (error.retryAfterSeconds !== undefined) response.setHeader('Retry-After', Math.ceil(error.retryAfterSeconds));
  sendJson(response, catalogue[error.code].http, toProblem(error, requestId), 'application/problem+json');
}
