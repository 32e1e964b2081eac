import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathOf } from '@acsp/http';
import { type Principal, type Principals, principalHeader, routeTable } from '@acsp/operation';
import { routes } from '../../src/surface.js';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The signed principal. */
  readonly caller: Principal;
}

export type Behaviour = (response: ServerResponse, seen: Seen) => void;

/** Stands in for a service: verifies the principal and its rpc, notes what it gets, and answers 200 with it unless told otherwise. */
export interface StandIn extends AsyncDisposable {
  readonly url: string;
  readonly seen: Seen[];
  /** The requests whose head has come, whole or not. */
  readonly begun: () => number;
  /** How the next request is answered. */
  next(behaviour: Behaviour): void;
}

const match = routeTable(routes);

export async function standIn(principals: Principals): Promise<StandIn> {
  const seen: Seen[] = [];
  const behaviours: Behaviour[] = [];
  let begun = 0;
  const server = createServer((request, response) => {
    begun += 1;
    void note(request, principals).then(
      (entry) => {
        seen.push(entry);
        const behave = behaviours.shift() ?? echo;
        behave(response, entry);
      },
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    begun: () => begun,
    next: (behaviour) => void behaviours.push(behaviour),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function note(request: IncomingMessage, principals: Principals): Promise<Seen> {
  const caller = callerOf(request, principals);
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return {
    method: request.method ?? '',
    url: request.url ?? '',
    headers: request.headers,
    body: Buffer.concat(pieces),
    caller,
  };
}

/** Throws unless the principal names an operation of this method and path. */
function callerOf({ method = '', url = '', headers }: IncomingMessage, principals: Principals): Principal {
  const caller = principals.verify(headers[principalHeader] as string);
  const found = match(method, pathOf(url));
  const fits = 'rows' in found && found.rows.some(({ rpc }) => rpc === caller.rpc);
  if (!fits) throw new Error(`the principal is for ${caller.rpc}`);
  return caller;
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
