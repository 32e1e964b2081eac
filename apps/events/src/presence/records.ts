import type { Life } from '@acsp/operation';
import { z } from 'zod';
import type { Context } from '../context.js';
import { type Announced, type Seen, statuses } from './rules.js';

type Stored = Pick<Context, 'store'>;

/** An agent that has not been seen for so long counts as never seen. */
const keptSeconds = 30 * 86_400;

const seen = z.object({
  status: z.enum(statuses),
  last_seen: z.coerce.date(),
  metadata: z.record(z.string(), z.json()),
});
const announced = z.object({ status: z.enum(statuses), since: z.coerce.date() });

export type SeenRecord = z.output<typeof seen> & Seen;

/** A record that nobody can read counts as none: one must not stop the sweeps of all agents. */
function read<Schema extends z.ZodType>(record: Schema, text = 'null'): z.output<Schema> | undefined {
  try {
    return record.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The life as a member of the schedule. */
export const memberOf = ({ aid, since }: Life): string => `${aid} ${since.getTime()}`;

export function lifeOfMember(member: string): Life {
  const [aid = '', since] = member.split(' ');
  return { aid, since: new Date(Number(since)) };
}

const seenKey = (life: Life) => `seen ${memberOf(life)}`;
const announcedKey = ({ aid }: Life) => `announced ${aid}`;

export async function readSeen({ store }: Stored, life: Life): Promise<SeenRecord | undefined> {
  return read(seen, await store.get(seenKey(life)));
}

export const writeSeen = ({ store }: Stored, life: Life, record: SeenRecord): Promise<void> =>
  store.set(seenKey(life), JSON.stringify(record), keptSeconds);

export const deleteSeen = ({ store }: Stored, life: Life): Promise<void> => store.delete(seenKey(life));

export async function readAnnounced({ store }: Stored, life: Life): Promise<Announced | undefined> {
  return read(announced, await store.get(announcedKey(life)));
}

export const writeAnnounced = ({ store }: Stored, life: Life, { status, since }: Announced): Promise<void> =>
  store.set(announcedKey(life), JSON.stringify({ status, since }), keptSeconds);
