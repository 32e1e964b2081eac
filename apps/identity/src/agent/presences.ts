import type { EventsService } from '@acsp/contracts/events/v1/events';
import { gatherKeys, type Peer } from '@acsp/service';
import { within } from '@acsp/time';
import type { Agent } from '../generated/prisma/client.js';

export interface ShownPresence {
  readonly status: string;
  readonly last_seen: Date | null;
}

/** The presence of an agent, by the events service. One that does not answer in time has never seen anybody: a look-up of an agent must not fail for it. */
export type Presences = (agent: Pick<Agent, 'aid' | 'created_at'>) => Promise<ShownPresence>;

const neverSeen: ShownPresence = { status: 'offline', last_seen: null };

/** The limit of BatchGetPresence. */
const maxAids = 100;
const answerMs = 300;
/** After a failure nobody waits for so long. */
const pauseMs = 1_000;

export function createPresences(events: Pick<Peer<typeof EventsService>, 'batchGetPresence'> | undefined): Presences {
  if (events === undefined) return async () => neverSeen;
  let pausedUntil = Number.NEGATIVE_INFINITY;

  const lookUp = gatherKeys(maxAids, async (keys) => {
    const lives = keys.map((key) => key.split(' '));
    const aids = lives.map(([aid = '']) => aid);
    const registered_at = lives.map(([, since]) => new Date(Number(since)));
    const { presences } = await events.batchGetPresence({ aids, registered_at }, { timeoutMs: answerMs });
    return new Map(presences.map(({ status, last_seen }, index) => [keys[index] ?? '', { status, last_seen }]));
  });

  return async ({ aid, created_at }) => {
    if (performance.now() < pausedUntil) return neverSeen;
    const key = `${aid} ${created_at.getTime()}`;
    try {
      return (await within(answerMs, 'The presence of an agent', lookUp([key]))).get(key) ?? neverSeen;
    } catch {
      pausedUntil = performance.now() + pauseMs;
      return neverSeen;
    }
  };
}
