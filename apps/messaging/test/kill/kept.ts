import type { Agent } from '@acsp/operation';
import type { Messaging } from '../harness.js';
import type { Attempt } from './load.js';

// A message in a place is a line, so that places are compared as lists of lines: what was sent, what agents read, and what was announced.

const received = (aid: string, content: string) => `inbox of ${aid}: ${content}`;
const sent = (aid: string, content: string) => `history of ${aid}: ${content}`;
const posted = (content: string) => `channel: ${content}`;
const announced = (feed: string, content: string) => `feed ${feed}: ${content}`;

/** The lines of an attempt, if it has been carried out once. */
export function linesOf({ who, to, content }: Attempt, channel_id: string): string[] {
  if (to.length === 0) return [posted(content), announced(`channel:${channel_id}`, content)];
  return to.flatMap(({ aid }) => [
    ...[received(aid, content), sent(who.aid, content), sent(aid, content)],
    announced(`agent:${aid}`, content),
  ]);
}

/** Every message that agents find in their inboxes and histories and in the channel, as often as they do. */
export async function readLines({ call }: Messaging, agents: readonly Agent[], channel: string): Promise<string[]> {
  const lines: string[] = [];
  for (const who of agents) {
    for (let [offset, more] = [0, true]; more; offset += 100) {
      const { messages, has_more } = (await call(who, `GET /inbox?limit=100&offset=${offset}`)).body;
      lines.push(...messages.map(({ content }: { content: string }) => received(who.aid, content)));
      more = has_more;
    }
    for (let [query, more] = ['limit=100', true]; more; ) {
      const { messages, has_more, cursor } = (await call(who, `GET /message/history?${query}`)).body;
      lines.push(...messages.map(({ content }: { content: string }) => sent(who.aid, content)));
      [query, more] = [`limit=100&before=${cursor}`, has_more];
    }
  }
  for (let [query, more] = ['', true]; more; ) {
    const { messages, has_more } = (await call(agents[0], `GET /channels/messages?channel_name=${channel}${query}`))
      .body;
    lines.push(...messages.map(({ body }: { body: string }) => posted(body)));
    [query, more] = [`&before=${messages.at(-1)?.id}`, has_more];
  }
  return lines;
}

/** Every event of a message in the outbox, which is where a relay takes what it publishes. */
export async function outboxLines({ context }: Messaging): Promise<string[]> {
  const { rows } = await context.database.pool.query<{ feed: string; content: string }>(
    `SELECT unnest(audience) AS feed, coalesce(payload->>'content', payload->'post'->>'body') AS content
     FROM bus.outbox WHERE type IN ('message.sent', 'channel.posted')`,
  );
  return rows.map(({ feed, content }) => announced(feed, content));
}
