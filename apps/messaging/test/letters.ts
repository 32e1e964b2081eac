import type { Agent } from '@acsp/operation';
import pg from 'pg';
import type { Messaging } from './harness.js';

/** The requests on direct messages, at one replica. */
export const lettersOf = (messaging: Messaging) => ({
  send: (from: Agent, to: Pick<Agent, 'aid'>, content = 'Hello', fields: object = {}) =>
    messaging.call(from, 'POST /message/send', { target_aid: to.aid, content, ...fields }),
  inbox: async (who: Agent, query = '') => (await messaging.call(who, `GET /inbox?aid=${who.aid}${query}`)).body,
  history: async (who: Agent, query = '') => (await messaging.call(who, `GET /message/history?${query}`)).body,
  read: (who: Agent, fields: object) => messaging.call(who, 'POST /inbox/read', fields),
});

export type Letters = ReturnType<typeof lettersOf>;

export const contentsOf = (messages: readonly { readonly content: string }[]) => messages.map(({ content }) => content);

/** Locks an agent's mailbox until it is disposed. */
export async function holdMailbox({ databaseUrl }: Messaging, aid: string): Promise<AsyncDisposable> {
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM mailbox WHERE aid = $1 FOR UPDATE', [aid]);
  return { [Symbol.asyncDispose]: () => holder.end() };
}

interface Miscount {
  readonly aid: string;
}

/** The mailboxes whose counts are not those of their messages. */
export async function miscounted({ context }: Messaging): Promise<string[]> {
  const rows = await context.database.prisma.$queryRaw<Miscount[]>`
    SELECT aid FROM mailbox LEFT JOIN message ON to_aid = aid GROUP BY aid, total, unread
    HAVING total <> count(id) OR unread <> count(id) FILTER (WHERE NOT read AND created_at > read_to)`;
  return rows.map(({ aid }) => aid);
}
