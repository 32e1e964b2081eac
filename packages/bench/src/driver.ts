import { Client, type Dispatcher } from 'undici';

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly loginKey?: string;
  readonly body?: string;
  /** The only status that counts as success. */
  readonly expect: 200 | 201;
}

/** Sends a request and answers its body; throws on any status but the expected one. */
export type Send = (request: Request) => Promise<string>;

/** The work that one connection does again and again: one request, or several that follow from each other. False ends the load early. */
export type Journey = (send: Send) => Promise<unknown>;

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Makes the journey of a connection. */
  readonly journey: (connection: number) => Journey;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** The latency of every request, in milliseconds. */
  readonly latencies: number[];
}

/** A closed loop: each connection sends its next request when it has the answer to the last one. Fails on the first wrong answer. */
export async function drive({ url, connections, seconds, journey }: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  const clients = Array.from({ length: connections }, () => new Client(url, { pipelining: 1, headersTimeout: 30_000 }));
  const start = performance.now();
  const end = start + seconds * 1000;
  try {
    await Promise.all(
      clients.map(async (client, connection) => {
        const go = journey(connection);
        const send = timed(client, latencies);
        while (performance.now() < end && (await go(send)) !== false);
      }),
    );
    return { requests: latencies.length, seconds: (performance.now() - start) / 1000, latencies };
  } finally {
    await Promise.all(clients.map((client) => client.destroy()));
  }
}

function timed(client: Client, latencies: number[]): Send {
  const send = sendBy(client);
  return async (request) => {
    const sent = performance.now();
    const text = await send(request);
    latencies.push(performance.now() - sent);
    return text;
  };
}

export function sendBy(client: Dispatcher): Send {
  return async ({ method, path, loginKey, body, expect }) => {
    const headers: Record<string, string> = {};
    if (loginKey !== undefined) headers.authorization = `Bearer ${loginKey}`;
    if (body !== undefined) headers['content-type'] = 'application/json';
    const answer = await client.request({ method, path, headers, body: body ?? null });
    const text = await answer.body.text();
    if (answer.statusCode !== expect) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
    return text;
  };
}
