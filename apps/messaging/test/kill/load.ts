import type { Agent, Idempotency } from '@acsp/operation';
import { newKey, type PostRequest } from '@acsp/testkit';
import type { Answer } from '../harness.js';
import type { MessagingProcess } from './messaging-process.js';

/** A request whose content no other has. */
export interface Attempt extends PostRequest {
  readonly content: string;
  /** The recipients; empty for a message to the channel. */
  readonly to: readonly Agent[];
  readonly idempotency?: Idempotency;
  /** Absent where the process died before. */
  answer?: Answer;
}

export interface Load {
  readonly attempts: readonly Attempt[];
  /** Resolves when every sender has found the process dead. */
  readonly ended: Promise<unknown>;
}

interface World {
  readonly agents: readonly Agent[];
  readonly channel_id: string;
}

/** Requests of every kind, of which every second one has an Idempotency-Key. */
export function createAttempts({ agents, channel_id }: World): () => Attempt {
  let made = 0;
  const at = (index: number) => agents[index % agents.length] as Agent;
  return () => {
    made += 1;
    const [who, content] = [at(made), `message ${made}`];
    const [one, several] = [[at(made + 1)], [at(made + 1), at(made + 2), at(made + 3)]];
    const aids = several.map(({ aid }) => aid);
    const kinds: Pick<Attempt, 'path' | 'to' | 'body'>[] = [
      { path: '/message/send', to: one, body: { target_aid: aids[0], content } },
      { path: '/message/send', to: one, body: { to: aids[0], message: content } },
      { path: '/message/broadcast', to: several, body: { to_aids: aids, body: content } },
      { path: '/channels/messages', to: [], body: { channel_id, body: content } },
      { path: '/message/broadcast', to: [], body: { channel_id, content } },
    ];
    const kind = kinds[made % kinds.length] as (typeof kinds)[number];
    return { who, content, ...kind, ...(made % 2 === 0 && { idempotency: newKey() }) };
  };
}

/** Senders that send without a pause until the process is gone. */
export function startLoad({ call }: Pick<MessagingProcess, 'call'>, next: () => Attempt, senders: number): Load {
  const attempts: Attempt[] = [];
  const untilDead = async () => {
    for (let alive = true; alive; ) {
      const attempt = next();
      attempts.push(attempt);
      const { who, path, body, idempotency } = attempt;
      alive = await call({ ...who, idempotency }, `POST ${path}`, body).then(
        (answer) => {
          attempt.answer = answer;
          return true;
        },
        () => false,
      );
    }
  };
  return { attempts, ended: Promise.all(Array.from({ length: senders }, untilDead)) };
}
