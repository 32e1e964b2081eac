import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

export interface Question {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** Pieces of a body that is sent without its length. */
  readonly chunks?: readonly string[];
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at answers of every shape.
  readonly json: any;
}

const silenceMs = 10_000;

/** One request on a connection of its own, with its target and bytes exactly as given. Rejects when nothing comes for ten seconds. */
export function ask(url: string, method: string, path: string, question: Question = {}): Promise<Reply> {
  const { hostname, port } = new URL(url);
  const { body, chunks } = question;
  const headers: OutgoingHttpHeaders = { ...question.headers };
  if (body !== undefined) headers['content-length'] ??= Buffer.byteLength(body);
  if (body !== undefined || chunks !== undefined) headers['content-type'] ??= 'application/json';
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers, agent: false }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece)).once('error', reject);
      answer.once('end', () => {
        const text = Buffer.concat(pieces).toString();
        const json = /json/.test(answer.headers['content-type'] ?? '') && text !== '' ? JSON.parse(text) : undefined;
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, json });
      });
    });
    sent.once('error', reject);
    sent.setTimeout(silenceMs, () => sent.destroy(new Error(`no answer within ${silenceMs} ms`)));
    for (const chunk of chunks ?? []) sent.write(chunk);
    sent.end(body);
  });
}
