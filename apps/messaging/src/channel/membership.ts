import { type EventRow, eventColumns, insertEvents } from '@acsp/bus';
import { type AnswerRow, answerColumns, type BatchStatement, keepAnswers } from '@acsp/database';
import type { ChannelMember } from '../generated/prisma/client.js';

// Lock order of everything on channels: channel_member, then channel (several in the order of their ids), then channel_invitation, then mailbox; so
// nothing can deadlock. The row of a channel is locked by single statements only, never from one round trip to the next: a process that stands
// still cannot keep the posts of a busy channel waiting.

/** The row's key, as text. */
export const membershipKey = ({ aid, channel_id, since }: ChannelMember): string =>
  [aid, channel_id, since.getTime()].join(' ');

interface Joining extends ChannelMember, EventRow, AnswerRow {
  readonly key: string;
}

const memberColumns = { key: 'text', aid: 'text', channel_id: 'uuid', since: 'timestamptz' } as const;

/** Answers nothing where the agent is a member already. Rows are inserted in the order of their keys, in which the inputs come. */
export const joinChannels: BatchStatement<Joining, object> = {
  name: 'join channel',
  columns: { ...memberColumns, ...eventColumns, ...answerColumns },
  key: ({ key }) => key,
  lock: ({ channel_id }) => channel_id,
  text: `
    , added AS (
      INSERT INTO channel_member (aid, channel_id, since) SELECT aid, channel_id, since FROM input
      ON CONFLICT DO NOTHING RETURNING aid, channel_id, since
    ),
    joined AS (SELECT input.* FROM input JOIN added USING (aid, channel_id, since)),
    locked AS (
      SELECT channel_id FROM channel WHERE channel_id IN (SELECT channel_id FROM joined) ORDER BY channel_id FOR NO KEY UPDATE
    ),
    counted AS (
      UPDATE channel SET members = members + tally.joined
      FROM (SELECT channel_id, count(*)::int AS joined FROM joined JOIN locked USING (channel_id) GROUP BY channel_id) AS tally
      WHERE channel.channel_id = tally.channel_id
    ),
    ${insertEvents('joined')},
    ${keepAnswers('joined')}
    SELECT key FROM joined`,
};

interface Leaving extends ChannelMember, EventRow {
  readonly key: string;
}

/** Answers nothing where the membership has ended already. */
export const leaveChannels: BatchStatement<Leaving, object> = {
  name: 'leave channel',
  columns: { ...memberColumns, ...eventColumns },
  key: ({ key }) => key,
  lock: ({ channel_id }) => channel_id,
  text: `
    , held AS (
      SELECT aid, channel_id, since FROM channel_member AS member JOIN input USING (aid, channel_id, since)
      ORDER BY aid, channel_id, since FOR UPDATE OF member
    ),
    ended AS (
      DELETE FROM channel_member AS member USING held
      WHERE (member.aid, member.channel_id, member.since) = (held.aid, held.channel_id, held.since)
      RETURNING member.aid, member.channel_id, member.since
    ),
    gone AS (SELECT input.* FROM input JOIN ended USING (aid, channel_id, since)),
    locked AS (
      SELECT channel_id FROM channel WHERE channel_id IN (SELECT channel_id FROM gone) ORDER BY channel_id FOR NO KEY UPDATE
    ),
    counted AS (
      UPDATE channel SET members = members - tally.gone, departures = departures + tally.gone
      FROM (SELECT channel_id, count(*)::int AS gone FROM gone JOIN locked USING (channel_id) GROUP BY channel_id) AS tally
      WHERE channel.channel_id = tally.channel_id
    ),
    ${insertEvents('gone')}
    SELECT key FROM gone`,
};
