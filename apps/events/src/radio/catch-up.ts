import type { Feed } from '@acsp/bus';
import type { Log } from '@acsp/telemetry';
import { createReport, createTurns, pause } from '@acsp/time';
import { pageSize } from '../feed/list.js';
import { type Behind, type Item, type Radio, toItem } from './radio.js';

interface CatchUpOptions {
  readonly feed: Feed;
  readonly log: Log;
  readonly deliver: (radio: Radio, item: Item) => void;
}

export interface CatchUp {
  /** Writes what the feed has after the position of the stream and up to `upTo`, then what came meanwhile; then the stream is live. */
  from(radio: Radio, upTo: number): void;
  /**
   * The stream has missed something, or does until `change` has resolved: it reads its feeds again from its position on. Resolves once it is live, or
   * has ended.
   */
  again(radio: Radio, change?: Promise<unknown>): Promise<void>;
}

/** A reader that has so much before it gets no more of its backlog yet. */
const enoughWaiting = 2 ** 18;
/** Streams that read at the same time. When the broker comes back all of them have to. */
const lanes = 16;
const [roomMs, outageMs] = [5, 500];

export function createCatchUp({ feed, log, deliver }: CatchUpOptions): CatchUp {
  const report = createReport('catching up of streams', log);
  const inTurn = Array.from({ length: lanes }, createTurns);
  let next = 0;

  async function run(radio: Radio, behind: Behind, first: number): Promise<void> {
    let upTo = first;
    while (!radio.closed) {
      if (behind.again) {
        if (behind.change !== undefined) await behind.change;
        behind.items.length = 0;
        behind.length = 0;
        behind.again = false;
        upTo = (await feed.bounds()).last;
      }
      await readUpTo(radio, upTo);
      if (behind.again) continue;
      radio.position = Math.max(radio.position ?? 0, upTo);
      for (const item of behind.items) deliver(radio, item);
      radio.behind = undefined;
      return;
    }
  }

  async function readUpTo(radio: Radio, upTo: number): Promise<void> {
    for (let after = radio.position; !radio.closed && after !== undefined && after < upTo; after = radio.position) {
      const range = { after, upTo, limit: pageSize };
      next = (next + 1) % lanes;
      const page = await (inTurn[next] as (typeof inTurn)[0])(() => feed.read(radio.feeds, range));
      for (const message of page) {
        deliver(radio, toItem(message));
        // A page may be larger than what a reader may leave waiting, however fast it reads.
        while (!radio.closed && radio.sink.waiting() > enoughWaiting) await pause(roomMs);
      }
      if (page.length < pageSize) return;
    }
  }

  async function start(radio: Radio, behind: Behind, upTo: number): Promise<void> {
    for (;;) {
      try {
        return await run(radio, behind, upTo);
      } catch (error) {
        report(error);
        behind.again = true;
        await pause(outageMs);
      }
    }
  }

  return {
    from(radio, upTo) {
      if (radio.behind !== undefined) radio.behind.running = start(radio, radio.behind, upTo);
    },
    async again(radio, change) {
      const behind = radio.behind ?? { items: [], length: 0, again: true };
      behind.again = true;
      // A gap during a change does not end it.
      behind.change = change ?? behind.change;
      if (radio.behind === undefined) {
        radio.behind = behind;
        behind.running = start(radio, behind, 0);
      }
      await behind.running;
    },
  };
}
