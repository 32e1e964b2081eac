import type { ServerResponse } from 'node:http';
import { createLane } from '@acsp/database';
import { type Answer, send } from '@acsp/http';
import { orAborted } from '@acsp/time';

/** Sends an answer to a request that changes nothing; throws SERVICE_UNAVAILABLE where too many large ones are on their way. */
export type SendLarge = (response: ServerResponse, answer: Answer) => Promise<void>;

/** Answers of at least so many bytes are large: some hundred lists are smaller. */
export const largeFrom = 256 * 1024;

/** A reader that is slower than this no longer keeps others waiting. */
const heldMs = 2_000;

/**
 * Four large answers are on their way at a time, besides those of slow readers: all connections take their turns on the event loop, and while forty
 * answers of 6 MiB were copied from socket to socket, others waited for seconds.
 */
export function createSendLarge(): SendLarge {
  const lane = createLane({
    width: 4,
    maxWaiting: 64,
    maxWaitMs: 8_000,
    detail: 'Too many large answers are being sent',
  });
  return (response, answer) =>
    lane(async () => {
      if (response.destroyed) return;
      const closed = new Promise<void>((resolve) => response.once('close', resolve));
      send(response, answer);
      await orAborted(closed, AbortSignal.timeout(heldMs));
    });
}
