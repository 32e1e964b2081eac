import { EventEmitter } from 'node:events';
import { createCoalesce, type ExpiredRows, type Postgres } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Log } from '@acsp/telemetry';
import { createWake, keepRunning, orAborted, within } from '@acsp/time';
import {
  type Bounds,
  type Feed,
  type FeedListener,
  type FeedMessage,
  maxLatestLength,
  type NewMessage,
} from '../feed.js';
import { announce, onAnnouncement } from './announcements.js';
import { pollMs } from './follow.js';

const answerMs = 2_000;

/** The statement takes the lock before it takes positions, so positions become visible in order. The sort puts the lock first. */
const insert = `INSERT INTO bus.feed (feed, id, event, channel, data, created_at)
  SELECT feed, id, event, channel, data, created_at
  FROM (SELECT pg_advisory_xact_lock(hashtext('bus.feed'))) AS lock,
    unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
      WITH ORDINALITY AS batch (feed, id, event, channel, data, created_at, ordinal)
  ORDER BY ordinal
  ON CONFLICT (id, feed) DO NOTHING`;

const columns = 'position::float8, feed, event, channel, data, created_at';
// By the column of the table: the output of the same name is a float, which no index has in order.
const ofAll = `SELECT ${columns} FROM bus.feed WHERE position > $1 ORDER BY feed.position LIMIT 500`;

// One index scan a feed: a single scan by position would read the rows of all other feeds.
const ofFeeds = `SELECT row.* FROM unnest($1::text[]) AS wanted (name), LATERAL (
    SELECT ${columns} FROM bus.feed WHERE feed = wanted.name AND position > $2 AND position <= $3 ORDER BY feed.position LIMIT $4
  ) AS row ORDER BY position LIMIT $4`;
const newest = `SELECT position, feed, event, channel, data, created_at FROM (
    SELECT *, row_number() OVER before AS number, sum(octet_length(data)) OVER before AS bytes FROM (
      SELECT row.* FROM unnest($1::text[]) AS wanted (name), LATERAL (
        SELECT ${columns} FROM bus.feed WHERE feed = wanted.name ORDER BY feed.position DESC LIMIT $2
      ) AS row ORDER BY position DESC LIMIT $2
    ) AS page WINDOW before AS (ORDER BY position DESC)
  ) AS measured WHERE bytes <= ${maxLatestLength} OR number = 1 ORDER BY position`;
/** For a test of their plans. */
export const pageStatements = { ofAll, ofFeeds, newest };

const ends = `SELECT coalesce(min(position), 1)::float8 AS first, coalesce(max(position), 0)::float8 AS last FROM bus.feed`;

/** Messages are kept for as long as the streams of a broker keep theirs; the newest one stays, because it holds the last position. */
export const expiredFeed: ExpiredRows = {
  table: 'bus.feed',
  key: 'position',
  where: "created_at < now() - interval '7 days' AND position < (SELECT max(position) FROM bus.feed)",
};

interface Source extends Pick<Postgres, 'pool' | 'migrated'> {
  readonly databaseUrl: string;
  readonly log: Log;
}

/** Ephemeral messages stay within this process. */
const ephemeral = new EventEmitter().setMaxListeners(0);

/** The feeds in a table. One reader a process takes the new rows of all feeds, as soon as somebody subscribes. */
export function feedRows({ pool, migrated, databaseUrl, log }: Source): Feed & AsyncDisposable {
  const listeners: Listeners = new Map();
  const topic = `feed of ${databaseUrl}`;
  const give = (message: FeedMessage) => {
    for (const listener of listeners.get(message.feed) ?? []) listener.onMessage(message);
  };
  ephemeral.on(topic, give);

  async function query<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    try {
      // The tables are missing at the first start only; afterwards the promise has resolved.
      await within(answerMs, 'Migrating the bus', migrated);
      return (await pool.query<Row>({ name, text, values })).rows;
    } catch (cause) {
      throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The feed does not answer', cause });
    }
  }

  const share = createCoalesce<Bounds>();
  const bounds = () => share('', async () => (await query<Bounds>('feed ends', ends, []))[0] ?? none);
  const reader = createReader({ bounds, topic, log }, async (after) => {
    const rows = await query<FeedMessage>('feed after', ofAll, [after]);
    for (const row of rows) give(row);
    return rows.at(-1)?.position;
  });
  return {
    async append(messages) {
      if (messages.length === 0) return;
      await query('feed append', insert, toColumns(messages));
      announce(topic);
    },
    async publishEphemeral(message) {
      ephemeral.emit(topic, { ...message, position: undefined });
    },
    bounds,
    read: (feeds, { after, upTo, limit }) => query<FeedMessage>('feed read', ofFeeds, [feeds, after, upTo, limit]),
    latest: (feeds, limit) => query<FeedMessage>('feed latest', newest, [feeds, limit]),
    async subscribe(feed, listener) {
      await within(answerMs, 'The reader of the feed', reader.started()).catch((cause) => {
        throw new AppError('SERVICE_UNAVAILABLE', { detail: 'The feed does not answer', cause });
      });
      return listen(listeners, feed, listener);
    },
    async [Symbol.asyncDispose]() {
      ephemeral.off(topic, give);
      await reader[Symbol.asyncDispose]();
    },
  };
}

const none: Bounds = { first: 1, last: 0 };

/** The listeners of this process by feed. */
type Listeners = Map<string, Set<FeedListener>>;

const toColumns = (messages: readonly NewMessage[]) => [
  messages.map(({ feed }) => feed),
  messages.map(({ id }) => id),
  messages.map(({ event }) => event),
  messages.map(({ channel }) => channel ?? null),
  messages.map(({ data }) => data),
  messages.map(({ created_at }) => created_at),
];

function listen(listeners: Listeners, feed: string, listener: FeedListener): Disposable {
  const own = listeners.get(feed) ?? new Set();
  listeners.set(feed, own.add(listener));
  return {
    [Symbol.dispose]() {
      own.delete(listener);
      if (own.size === 0 && listeners.get(feed) === own) listeners.delete(feed);
    },
  };
}

interface Reader extends AsyncDisposable {
  /** Resolves once the reader has a position, from which on it misses nothing: an outage only makes it wait. */
  started(): Promise<void>;
}

interface Reading extends Pick<Feed, 'bounds'> {
  readonly topic: string;
  readonly log: Log;
}

/** `readAfter` answers the position of the last row that it found. */
function createReader(
  { bounds, topic, log }: Reading,
  readAfter: (position: number) => Promise<number | undefined>,
): Reader {
  const wake = createWake();
  const stopListening = onAnnouncement(topic, wake.wake);
  let position: number | undefined;
  let running: AsyncDisposable | undefined;
  let setStarted = () => {};
  const started = new Promise<void>((resolve) => {
    setStarted = resolve;
  });
  async function follow(signal: AbortSignal): Promise<void> {
    position ??= (await bounds()).last;
    setStarted();
    while (!signal.aborted) {
      const found: number | undefined = await readAfter(position);
      position = found ?? position;
      if (found === undefined) await orAborted(wake.wait(pollMs), signal);
    }
  }
  return {
    started() {
      running ??= keepRunning('feed', log, follow);
      return started;
    },
    async [Symbol.asyncDispose]() {
      stopListening();
      const stopped = running?.[Symbol.asyncDispose]();
      wake.wake();
      await stopped;
    },
  };
}
