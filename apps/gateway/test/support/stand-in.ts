import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type Behaviour = (response: ServerResponse, seen: Seen) => void;

/** Stands in for a service: notes what it gets, and answers 200 with it unless told otherwise. */
export interface StandIn extends AsyncDisposable {
  readonly url: string;
  readonly seen: Seen[];
  /** How the next request is answered. */
  next(behaviour: Behaviour): void;
}

export async function standIn(): Promise<StandIn> {
  const seen: Seen[] = [];
  const behaviours: Behaviour[] = [];
  const server = createServer((request, response) => {
    void note(request).then((entry) => {
      seen.push(entry);
      const behave = behaviours.shift() ?? echo;
      behave(response, entry);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    next: (behaviour) => void behaviours.push(behaviour),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function note(request: IncomingMessage): Promise<Seen> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    body: Buffer.concat(pieces),
  };
}

const echo: Behaviour = (response, { method, url, body }) =>
  answerJson(200, { method, url, body: body.toString() })(response, undefined as never);

export const answerJson =
  (status: number, body: object): Behaviour =>
  (response) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const type = status >= 400 ? 'application/problem+json' : 'application/json';
    response.writeHead(status, { 'content-type': type, 'content-length': bytes.length }).end(bytes);
  };
