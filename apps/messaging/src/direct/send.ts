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
import type { Call } from '@acsp/operation';
import type { Context } from '../context.js';
import type { Message } from '../generated/prisma/client.js';

/** A message but for its sender and time, which all messages of a sending share. */
export type Letter = Omit<Message, 'from_aid' | 'from_name' | 'read' | 'created_at'>;

/** The columns that most messages leave empty. */
export const plain = {
  thread_id: null,
  metadata: {},
  match_score: null,
  timestamp: null,
  signature: null,
  verified: null,
  notice_key: null,
};

export interface Sending<Answer> {
  /** Null for notices of the service itself. */
  readonly from_aid: string | null;
  readonly from_name: string;
  readonly letters: readonly Letter[];
  readonly event: (letter: Letter, at: Date) => EventRow;
  readonly answer: (at: Date) => Answer;
}

/**
 * Writes messages into the mailboxes of their recipients, all of them or none, and answers. The mailboxes of both sides are locked meanwhile, and
 * created_at is no earlier than what they hold, so times never go back from one commit to the next, whatever the clocks of replicas say.
 */
export function send<Answer extends object>(
  { database, clock }: Context,
  { from_aid, from_name, letters, event, answer }: Sending<Answer>,
  call: Call,
): Promise<Answer> {
  let earliest = 0;
  const bytes = letters.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const attempt = async () => {
    const created_at = new Date(Math.max(clock.now().getTime(), earliest));
    const answered = answer(created_at);
    const row: Row = {
      sending: newId(),
      bytes,
      from_aid,
      from_name,
      created_at,
      letters: letters.map((letter) => ({ ...letter, ...event(letter, created_at) })),
      ...answerRow(call.once, answered),
    };
    const outcome = await database.batch(sendMessages, row, call);
    if (outcome?.written) return answered;
    if (outcome?.unopened) await Promise.all(outcome.unopened.map((aid) => database.batch(openMailbox, { aid })));
    if (outcome?.last_at) earliest = outcome.last_at.getTime() + 1;
    return undefined;
  };
  return untilWritten(attempt, { call });
}

interface Row extends AnswerRow {
  readonly sending: string;
  /** The size of its contents together. */
  readonly bytes: number;
  readonly from_aid: string | null;
  readonly from_name: string;
  readonly created_at: Date;
  readonly letters: readonly (Letter & EventRow)[];
}

interface Outcome {
  readonly written: boolean;
  /** Agents that have no mailbox yet. */
  readonly unopened: readonly string[] | null;
  /** The latest time that the mailboxes hold, where it is not earlier than created_at. */
  readonly last_at: Date | null;
}

const letterColumns = {
  id: 'uuid',
  to_aid: 'text',
  content: 'text',
  msg_type: 'message_type',
  thread_id: 'text',
  metadata: 'json',
  match_score: 'float8',
  timestamp: 'text',
  signature: 'text',
  verified: 'boolean',
  notice_key: 'text',
} as const satisfies Record<keyof Letter, string>;

const quoted = Object.keys(letterColumns).map((name) => `"${name}"`);
const typed = Object.entries({ ...letterColumns, ...eventColumns }).map(([name, type]) => `"${name}" ${type}`);

/** A sending with more content than this, up to fifty times 16 KiB, is large. */
const largeBytes = 2_048;
/**
 * A page of a history holds whole milliseconds, so what a mailbox has in one is bounded: large sendings share theirs with those of the same statement
 * alone, up to about this many bytes.
 */
const sharedBytes = 2 ** 18;

/**
 * A mailbox that another process has locked is skipped, so that its messages do not hold up their neighbours in the batch; they are tried again.
 * Mailboxes are locked in the order of their AIDs, so statements cannot deadlock.
 */
const sendMessages: BatchStatement<Row, Outcome> = {
  name: 'send messages',
  columns: {
    sending: 'uuid',
    bytes: 'integer',
    from_aid: 'text',
    from_name: 'text',
    created_at: 'timestamptz',
    letters: 'json',
    ...answerColumns,
  },
  key: ({ sending }) => sending,
  text: `
    , letter AS (
      SELECT sending, bytes, from_aid, from_name, created_at, letter.*
      FROM input CROSS JOIN LATERAL json_to_recordset(letters) AS letter (${typed.join(', ')})
    ),
    party AS (
      SELECT sending, bytes, aid, created_at, bytes > ${largeBytes} AS large, sum(bytes) OVER (PARTITION BY aid, bytes > ${largeBytes} ORDER BY sending) - bytes AS before FROM (
        SELECT sending, bytes, to_aid AS aid, created_at FROM letter UNION
        SELECT sending, bytes, from_aid, created_at FROM input WHERE from_aid IS NOT NULL
      ) AS side
    ),
    locked AS (
      SELECT aid, last_at FROM mailbox WHERE aid IN (SELECT aid FROM party) ORDER BY aid FOR NO KEY UPDATE SKIP LOCKED
    ),
    ready AS (
      SELECT sending FROM party LEFT JOIN locked USING (aid)
      GROUP BY sending HAVING bool_and(
        locked.last_at IS NOT NULL AND locked.last_at <= created_at AND (NOT large OR (locked.last_at < created_at AND before < ${sharedBytes}))
      )
    ),
    sent AS (SELECT letter.* FROM letter JOIN ready USING (sending)),
    counted AS (
      UPDATE mailbox SET last_at = greatest(last_at, tally.at), total = total + received, unread = unread + received
      FROM (
        SELECT aid, max(created_at) AS at, count(*) FILTER (WHERE incoming) AS received FROM (
          SELECT to_aid AS aid, created_at, true AS incoming FROM sent UNION ALL
          SELECT from_aid, created_at, false FROM input JOIN ready USING (sending) WHERE from_aid IS NOT NULL
        ) AS movement GROUP BY aid
      ) AS tally WHERE mailbox.aid = tally.aid
    ),
    stored AS (
      INSERT INTO message (from_aid, from_name, created_at, ${quoted}) SELECT from_aid, from_name, created_at, ${quoted} FROM sent
    ),
    ${insertEvents('sent')},
    answered AS (SELECT input.* FROM input JOIN ready USING (sending)),
    ${keepAnswers('answered')}
    SELECT sending AS key, true AS written, NULL::text[] AS unopened, NULL::timestamptz AS last_at FROM ready UNION ALL
    SELECT sending, false, array_agg(party.aid) FILTER (WHERE mailbox.aid IS NULL), max(locked.last_at) FILTER (WHERE locked.last_at >= created_at)
    FROM party LEFT JOIN mailbox USING (aid) LEFT JOIN locked USING (aid)
    WHERE sending NOT IN (SELECT sending FROM ready) GROUP BY sending`,
};

const openMailbox: BatchStatement<{ readonly aid: string }, object> = {
  name: 'open mailbox',
  columns: { aid: 'text' },
  key: ({ aid }) => aid,
  text: ', opened AS (INSERT INTO mailbox (aid) SELECT aid FROM input ON CONFLICT DO NOTHING) SELECT aid AS key FROM input',
};
