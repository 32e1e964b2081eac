import { type EventRow, eventColumns, insertEvents } from '@acsp/bus';
import {
  type AnswerRow,
  answerColumns,
  answerRow,
  type BatchStatement,
  keepAnswers,
  newId,
  untilWritten,
} from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Agent, Call } from '@acsp/operation';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Context } from '../context.js';
import { events } from '../events.js';
import type { ChannelMessage } from '../generated/prisma/client.js';
import { channelPayload } from './channel-event.js';
import { type KnownChannel, readChannel } from './known-channel.js';
import { refusePosting } from './rules.js';

type Draft = Pick<ChannelMessage, 'channel_id' | 'body' | 'msg_type'> & { readonly metadata: JsonObject };
type Posted = Omit<ChannelMessage, 'position'> & Draft;

/** A message of an agent to a channel, and what it is answered with. */
export interface Posting<Answer> {
  readonly draft: Draft;
  readonly answer: (message: Posted, channel: KnownChannel) => Answer;
}

/** Writes a message to a channel and answers, or throws what the rules say. There is one event, however many members there are. */
export function postToChannel<Answer extends object>(
  context: Context,
  { draft, answer }: Posting<Answer>,
  { sender, call }: { readonly sender: Agent; readonly call: Call },
): Promise<Answer> {
  const id = newId();
  let [earliest, aheadMs] = [0, 0];
  const attempt = async () => {
    const channel = await readChannel(context, draft, sender);
    const refused = refusePosting(channel);
    if (refused !== undefined) throw new AppError(refused);
    const created_at = new Date(Math.max(context.clock.now().getTime(), earliest));
    const message = { ...draft, id, from_aid: sender.aid, from_name: sender.name, created_at };
    const row: Row = {
      ...message,
      departures: channel.departures,
      ...postEvent(message, channel),
      ...answerRow(call.once, answer(message, channel)),
    };
    const outcome = await context.database.batch(postMessages, row, call);
    if (outcome?.written) return answer({ ...message, created_at: outcome.last_at }, channel);
    // Other replicas post meanwhile: the time goes ahead of theirs a little more with each attempt.
    if (outcome !== undefined) earliest = outcome.last_at.getTime() + aheadMs;
    aheadMs = 2 * aheadMs + 1;
    return undefined;
  };
  return untilWritten(attempt, { call });
}

function postEvent({ id, from_aid, from_name, body, msg_type, metadata, created_at }: Posted, channel: KnownChannel) {
  const post = { message_id: id, from_aid, from_name, body, msg_type, metadata };
  const audience = [`channel:${channel.channel_id}`];
  const payload = channelPayload(channel, from_aid, { post });
  return events.row({ type: 'channel.posted', audience, actor: from_aid, payload }, created_at);
}

interface Row extends Posted, EventRow, AnswerRow {
  /** The channel's, as of the decision. */
  readonly departures: number;
}

interface Outcome {
  readonly written: boolean;
  /** The message's own time where it is written, otherwise that of the channel's latest message. */
  readonly last_at: Date;
}

const messageColumns = {
  id: 'uuid',
  channel_id: 'uuid',
  from_aid: 'text',
  from_name: 'text',
  body: 'text',
  msg_type: 'message_type',
  metadata: 'json',
} as const;

const { event_at: _eventAt, ...otherEventColumns } = eventColumns;
const names = Object.keys(messageColumns).join(', ');
const carried = Object.keys({ ...messageColumns, ...otherEventColumns, ...answerColumns }).join(', ');

/**
 * All posts of a run lock their channels once, in the order of ids, and take the next positions. A post whose channel a member has left since the
 * decision is not written. Times move up to the latest one of the channel, unless an answer that is kept says the time already.
 */
const postMessages: BatchStatement<Row, Outcome> = {
  name: 'post to channel',
  columns: { ...messageColumns, created_at: 'timestamptz', departures: 'int', ...eventColumns, ...answerColumns },
  key: ({ id }) => id,
  lock: ({ channel_id }) => channel_id,
  text: `
    , locked AS (
      SELECT channel_id, departures, last_position, last_at FROM channel
      WHERE channel_id IN (SELECT channel_id FROM input) ORDER BY channel_id FOR NO KEY UPDATE
    ),
    post AS (
      SELECT ${carried}, greatest(created_at, last_at) AS event_at,
        last_position + row_number() OVER (PARTITION BY channel_id ORDER BY created_at, id) AS position
      FROM input JOIN locked USING (channel_id, departures) WHERE answer_key IS NULL OR created_at >= last_at
    ),
    counted AS (
      UPDATE channel SET last_position = tally.position, last_at = tally.last_at
      FROM (SELECT channel_id, max(position) AS position, max(event_at) AS last_at FROM post GROUP BY channel_id) AS tally
      WHERE channel.channel_id = tally.channel_id
    ),
    stored AS (INSERT INTO channel_message (position, created_at, ${names}) SELECT position, event_at, ${names} FROM post),
    ${insertEvents('post')},
    ${keepAnswers('post')}
    SELECT id AS key, true AS written, event_at AS last_at FROM post UNION ALL
    SELECT id, false, last_at FROM input JOIN locked USING (channel_id) WHERE id NOT IN (SELECT id FROM post)`,
};
