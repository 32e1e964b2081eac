import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { AppError } from '@acsp/errors';

/**
 * The bytes of a request's body. Throws PAYLOAD_TOO_LARGE as soon as they are too many; the rest is not read, and the request not destroyed,
 * so that its refusal still reaches the sender.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  if (request.destroyed && !request.complete) return Promise.reject(brokenOff());
  // Events cost less than iterating over the stream.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      request.off('data', take).pause();
      reject(tooLarge(maxBytes));
    };
    request.on('data', take);
    request.once('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size)),
    );
    request.once('error', reject);
    request.once('close', () => request.complete || reject(brokenOff()));
  });
}

const brokenOff = () => new Error('The sender broke off');
const tooLarge = (maxBytes: number) => new AppError('PAYLOAD_TOO_LARGE', { detail: `Body over ${maxBytes} bytes` });

/** The members of a JSON body, which must be an object in UTF-8. */
export function parseBody(raw: Buffer): Record<string, unknown> {
  if (!isUtf8(raw)) throw new AppError('INVALID_JSON', { detail: 'Body must be UTF-8' });
  let value: unknown;
  try {
    value = JSON.parse(raw.toString('utf8'));
  } catch {
    throw new AppError('INVALID_JSON');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new AppError('INVALID_JSON', { detail: 'Body must be a JSON object' });
}

/** The parameters of a request target's query; of one that is given twice, the last. */
export function queryFields(target: string): Record<string, unknown> {
  const mark = target.indexOf('?');
  return mark < 0 ? {} : Object.fromEntries(new URLSearchParams(target.slice(mark + 1)));
}

export function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}
