import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { startChild } from '../child.js';
import { cpuBetween, readCpu, total } from '../cpu.js';
import { type Send, sendBy } from '../driver.js';
import { idle } from '../measure.js';
import { type Account, nth } from '../scenarios/scenario.js';
import type { Distributed } from '../sides/distributed.js';
import { type Door, requestsFor } from './doors.js';
import type { ClientAnswer, ClientOrder } from './stream-client.js';

/** The cost of so many open streams for one process of the events service. */
export interface StreamFigures {
  readonly title: string;
  readonly streams: number;
  /** Resident memory a stream above that of the idle process, without garbage, and what V8's heap has of it. */
  readonly residentKiB: number;
  readonly heapKiB: number;
  /** From when a post to `global` was sent to when the last stream had it, post by post. */
  readonly postMs: readonly number[];
  /** CPU time that a post takes in the events service and in the client. */
  readonly eventsMs: number;
  readonly clientMs: number;
  /** The share of a core while nothing but heartbeats is sent. */
  readonly heartbeatPercent: number;
}

/** Lets the events service say what memory it needs, see collect-garbage.ts. */
export const collectGarbage = { NODE_OPTIONS: `--import ${new URL('./collect-garbage.js', import.meta.url).href}` };

const script = fileURLToPath(new URL('./stream-client.js', import.meta.url));
export const globalId = '00000000-0000-7000-8000-676c6f62616c';
const batch = 32;
const posts = 10;
const patienceMs = 30_000;
const mostReadings = 10;
const heartbeatSeconds = 30;

interface Measuring {
  readonly side: Distributed;
  readonly logDir: string;
}

/** Opens a stream for each account through a door and measures; all are closed again at the end. */
export async function measureStreams(
  accounts: readonly Account[],
  door: Door,
  { side, logDir }: Measuring,
): Promise<StreamFigures> {
  const { events } = side;
  await using client = startClient(side, door, logDir);
  // V8's heap grows with the first streams and stays grown, which is no cost of a stream.
  await client.open(accounts);
  await post(client, accounts);
  await client.close();
  await untilNone(events);
  const before = await memoryOf(side);
  await client.open(accounts);
  await idle([events]);
  const after = await memoryOf(side);
  const beat = readCpu([events]);
  await pause(heartbeatSeconds * 1_000);
  const heartbeatUs = total(cpuBetween(beat, readCpu([events])));
  const rounds: Posted[] = [];
  while (rounds.length < posts) rounds.push(await post(client, accounts));
  const least = (pick: (posted: Posted) => number) => Math.min(...rounds.map(pick));
  const each = (bytes: number) => bytes / accounts.length / 1024;
  return {
    title: door.title,
    streams: accounts.length,
    residentKiB: each(after.rss - before.rss),
    heapKiB: each(after.heapUsed - before.heapUsed),
    postMs: rounds.map(({ tookMs }) => tookMs),
    eventsMs: least(({ eventsUs }) => eventsUs) / 1_000,
    clientMs: least(({ clientUs }) => clientUs) / 1_000,
    heartbeatPercent: heartbeatUs / heartbeatSeconds / 10_000,
  };
}

interface Client extends AsyncDisposable {
  readonly side: Distributed;
  readonly send: Send;
  open(accounts: readonly Account[]): Promise<void>;
  close(): Promise<unknown>;
  /** Resolves once it looks for the text, with the promise of the answer. */
  count(text: string): Promise<{ readonly seen: Promise<ClientAnswer> }>;
}

function startClient(side: Distributed, door: Door, logDir: string): Client {
  const child = startChild({ name: 'stream-client', script, env: {}, logDir });
  const pool = new Pool(side.url, { connections: 16, pipelining: 1 });
  const send = sendBy(pool);
  const order = async (what: ClientOrder) => {
    child.send(what);
    return (await child.receive()) as ClientAnswer;
  };
  return {
    side,
    send,
    async open(accounts) {
      const port = Number(new URL(door.url).port);
      for (let from = 0; from < accounts.length; from += batch) {
        const requests = await requestsFor(send, door, accounts.slice(from, from + batch));
        await order({ kind: 'open', port, localAddress: `127.0.0.${2 + ((from / batch) % 8)}`, requests });
      }
    },
    close: () => order({ kind: 'close' }),
    async count(text) {
      await order({ kind: 'count', text });
      const seen = child.receive() as Promise<ClientAnswer>;
      seen.catch(() => {});
      return { seen };
    },
    async [Symbol.asyncDispose]() {
      await pool.destroy();
      await child[Symbol.asyncDispose]();
    },
  };
}

interface Posted {
  readonly tookMs: number;
  readonly eventsUs: number;
  readonly clientUs: number;
}

async function post({ side: { events }, send, count }: Client, accounts: readonly Account[]): Promise<Posted> {
  const { aid, loginKey } = nth(accounts, 0);
  const text = `posted at ${performance.now()}`;
  const before = readCpu([events]);
  const { seen } = await count(text);
  const startMs = Number(process.hrtime.bigint()) / 1e6;
  const body = JSON.stringify({ aid, channel_id: globalId, body: text });
  await send({ method: 'POST', path: '/api/acsp/channels/messages', loginKey, body, expect: 201 });
  const { lastMs, cpuUs } = await seen;
  await idle([events]);
  return { tookMs: lastMs - startMs, eventsUs: total(cpuBetween(before, readCpu([events]))), clientUs: cpuUs };
}

async function untilNone({ opsUrl }: Distributed['events']): Promise<void> {
  for (const deadline = Date.now() + patienceMs; ; await pause(200)) {
    const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
    if (/^acsp_open_streams 0$/m.test(metrics)) return;
    if (Date.now() > deadline) throw new Error('streams stay open whose clients have gone');
  }
}

/** Once it falls no more: what streams leave behind is written down and let go for a while after they end. */
async function memoryOf({ events }: Distributed): Promise<NodeJS.MemoryUsage> {
  let before = Number.POSITIVE_INFINITY;
  for (let reading = 1; ; reading += 1) {
    const answer = events.receive();
    process.kill(events.pid, 'SIGUSR2');
    const memory = (await answer) as NodeJS.MemoryUsage;
    if (memory.heapUsed > before * 0.995 || reading === mostReadings) return memory;
    before = memory.heapUsed;
    await pause(1_000);
  }
}
