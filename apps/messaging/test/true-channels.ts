import type { Messaging } from './harness.js';

/** The invariants that no race may break, for every channel that there is. */
export async function expectTrueChannels({ context }: Messaging): Promise<void> {
  for (const [broken, text] of Object.entries(violations)) {
    expect([broken, await context.database.prisma.$queryRawUnsafe(text)]).toEqual([broken, []]);
  }
}

const violations = {
  'a channel counts its members': `
    SELECT name, members FROM channel
    WHERE members <> (SELECT count(*) FROM channel_member WHERE channel_member.channel_id = channel.channel_id)`,
  'positions have no gap, and the channel knows the last one and its time': `
    SELECT name, last_position, found FROM channel CROSS JOIN LATERAL (
      SELECT count(*) AS found, coalesce(max(position), 0) AS last, coalesce(max(created_at), 'epoch') AS at
      FROM channel_message WHERE channel_message.channel_id = channel.channel_id
    ) AS counted WHERE last_position <> found OR last_position <> last OR last_at <> at`,
  'times do not go back from one position to the next': `
    SELECT id FROM (
      SELECT id, created_at, lag(created_at) OVER (PARTITION BY channel_id ORDER BY position) AS before FROM channel_message
    ) AS message WHERE created_at < before`,
  'each message has one event, in the same order and of the same time': `
    SELECT channel_id, stored, told FROM (
      SELECT channel_id, array_agg(id::text || created_at ORDER BY position) AS stored, (
        SELECT array_agg(payload->'post'->>'message_id' || occurred_at ORDER BY position) FROM bus.outbox
        WHERE type = 'channel.posted' AND payload->>'channel_id' = channel_message.channel_id::text
      ) AS told FROM channel_message GROUP BY channel_id
    ) AS both_of WHERE stored IS DISTINCT FROM told`,
  'members are those who joined or made the channel and have not left': `
    SELECT name, members, balance FROM channel CROSS JOIN LATERAL (
      SELECT coalesce(sum(CASE type WHEN 'channel.left' THEN -1 ELSE 1 END), 0) AS balance FROM bus.outbox
      WHERE type IN ('channel.created', 'channel.joined', 'channel.left') AND payload->>'channel_id' = channel_id::text
    ) AS told WHERE members <> balance`,
};
