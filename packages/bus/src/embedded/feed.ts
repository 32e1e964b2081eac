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
import { pollMs } from './follow.js';

const answerMs = 2_000;
const pageSize = 500;

/** The statement takes the lock before it takes positions, so positions become visible in order. The sort puts the lock first. */
const insert = `INSERT INTO bus.feed (feed, id, event, channel, data, created_at)
  SELECT feed, id, event, channel, data, created_at
  FROM (SELECT pg_advisory_xact_lock(hashtext('bus.feed'))) AS lock,
    unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
      WITH ORDINALITY AS batch (feed, id, event, channel, data, created_at, ordinal)
  ORDER BY ordinal
  ON CONFLICT (id, feed) DO NOTHING
  RETURNING position::float8`;

const columns = 'position::float8, feed, event, channel, data, created_at';
// By the column of the table: the output of the same name is a float, which no index has in order.
const ofAll = `SELECT ${columns} FROM bus.feed WHERE position > $1 ORDER BY feed.position LIMIT ${pageSize}`;

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

/** Messages that this process appends, and ephemeral ones, which stay within it; the name is that of the database. */
const appended = new EventEmitter().setMaxListeners(0);

/** The feeds in a table. One reader a process takes the new rows of all feeds, as soon as somebody subscribes. */
export function feedRows({ pool, migrated, databaseUrl, log }: Source): Feed & AsyncDisposable {
  const listeners: Listeners = new Map();
  const give = (message: FeedMessage) => {
    for (const listener of listeners.get(message.feed) ?? []) {
      try {
        listener.onMessage(message);
      } catch (error) {
        log.error({ err: error, feed: message.feed }, 'a listener of a feed failed');
      }
    }
  };

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
  const after = (position: number) => query<Appended>('feed after', ofAll, [position]);
  const reader = createReader({ bounds, after, give, log });
  appended.on(databaseUrl, reader.offer);
  return {
    async append(messages) {
      if (messages.length === 0) return;
      const positions = await query<{ position: number }>('feed append', insert, toColumns(messages));
      const page = messages.map((message, index) => toFeedMessage(message, positions[index]?.position));
      // Messages that the feed has already answer no position, so messages and positions cannot be paired.
      appended.emit(databaseUrl, positions.length === messages.length ? page : []);
    },
    async publishEphemeral(message) {
      appended.emit(databaseUrl, [toFeedMessage(message, undefined)]);
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
      appended.off(databaseUrl, reader.offer);
      await reader[Symbol.asyncDispose]();
    },
  };
}

const none: Bounds = { first: 1, last: 0 };

/** The listeners of this process by feed. */
type Listeners = Map<string, Set<FeedListener>>;

const toFeedMessage = ({ id: _id, channel, ...message }: NewMessage, position: number | undefined): FeedMessage => ({
  ...message,
  channel: channel ?? null,
  position,
});

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

type Appended = FeedMessage & { readonly position: number };

interface Reader extends AsyncDisposable {
  /** Resolves once the reader has a position, from which on it misses nothing: an outage only makes it wait. */
  started(): Promise<void>;
  /** Gives what this process has just announced; where something of another process may come before it, the reader reads. */
  offer(page: readonly FeedMessage[]): void;
}

interface Reading extends Pick<Feed, 'bounds'> {
  readonly after: (position: number) => Promise<Appended[]>;
  readonly give: (message: FeedMessage) => void;
  readonly log: Log;
}

function createReader({ bounds, after, give, log }: Reading): Reader {
  const wake = createWake();
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
      const page = await after(position);
      // Meanwhile some of them may have been offered.
      for (const message of page) if (message.position > position) advance(message);
      if (page.length < pageSize) await orAborted(wake.wait(pollMs), signal);
    }
  }
  function advance(message: Appended): void {
    position = message.position;
    give(message);
  }
  return {
    started() {
      running ??= keepRunning('feed', log, follow);
      return started;
    },
    offer(page) {
      if (page.length === 0) wake.wake();
      for (const message of page) {
        if (message.position === undefined) give(message);
        // Positions are taken under a lock: between this message and the one that has the position before it there is none.
        else if (position !== undefined && message.position === position + 1) advance(message as Appended);
        else wake.wake();
      }
    },
    async [Symbol.asyncDispose]() {
      const stopped = running?.[Symbol.asyncDispose]();
      wake.wake();
      await stopped;
    },
  };
}
