import type { Agent } from '@acsp/operation';
import { eventually, sendUnder, serveKnownAgents, type TestDatabase, testDatabase } from '@acsp/testkit';
import { channelsOf, newName } from './channels.js';
import { agent, type Messaging, startMessaging } from './harness.js';
import { linesOf, outboxLines, readLines } from './kill/kept.js';
import { type Attempt, createAttempts, startLoad } from './kill/load.js';
import { type MessagingProcess, startProcess } from './kill/messaging-process.js';
import { miscounted } from './letters.js';
import { expectTrueChannels } from './true-channels.js';

const agents = Array.from({ length: 6 }, (_, n) => agent(`Agent ${n}`));
const channel = newName();
let channel_id: string;
/** Every request of the load, in three lives of the process. */
const attempts: Attempt[] = [];
let database: TestDatabase;
let identity: Awaited<ReturnType<typeof serveKnownAgents>>;
/** The service, started again on the same database. */
let messaging: Messaging;

beforeAll(async () => {
  [database, identity] = await Promise.all([testDatabase(), serveKnownAgents()]);
  let next: (() => Attempt) | undefined;
  for (let life = 0; life < 3; life += 1) {
    await using process = await startProcess(database.url, identity.address);
    channel_id ??= await newChannel(process);
    next ??= createAttempts({ agents, channel_id });
    attempts.push(...(await untilKilled(process, next)));
  }
  messaging = await startMessaging({ databaseUrl: database.url });
}, 60_000);
afterAll(async () => {
  await messaging?.[Symbol.asyncDispose]();
  await identity[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

function newChannel(process: MessagingProcess): Promise<string> {
  const [creator, ...members] = agents as [Agent, ...Agent[]];
  return channelsOf(process).made(creator, { name: channel, members });
}

async function untilKilled(process: MessagingProcess, next: () => Attempt): Promise<readonly Attempt[]> {
  const load = startLoad(process, next, 40);
  await eventually(() => load.attempts.filter(isAnswered).length >= 250, { timeoutMs: 15_000 });
  await process.kill();
  await load.ended;
  return load.attempts;
}

const isAnswered = ({ answer }: Attempt) => answer !== undefined;
const read = async () => [...(await readLines(messaging, agents, channel)), ...(await outboxLines(messaging))];

/** The lines of attempts that are there another number of times than once. */
function notOnce(expected: readonly Attempt[], lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  // A broadcast is in its sender's history once for each recipient.
  return expected.flatMap((attempt) => {
    const own = linesOf(attempt, channel_id);
    return own.filter((line) => counts.get(line) !== own.filter((other) => other === line).length);
  });
}

test('requests were in flight when the process was killed, and none was refused', () => {
  expect(attempts.filter(isAnswered).length).toBeGreaterThanOrEqual(750);
  expect(attempts.filter((attempt) => !isAnswered(attempt)).length).toBeGreaterThanOrEqual(3 * 40);
  expect(new Set(attempts.filter(isAnswered).map(({ answer }) => answer?.status))).toEqual(new Set([201]));
});

test('every message answered 201 is in inbox and history or in the channel, and in the outbox, once', async () => {
  expect(notOnce(attempts.filter(isAnswered), await read())).toEqual([]);
});

test('a request that was not answered is carried out as a whole, once, or not at all', async () => {
  const lines = await read();
  const there = new Set(lines);
  const carriedOut = attempts.filter((attempt) => linesOf(attempt, channel_id).some((line) => there.has(line)));
  expect(notOnce(carriedOut, lines)).toEqual([]);
  expect(lines.length).toBe(carriedOut.flatMap((attempt) => linesOf(attempt, channel_id)).length);
  expect(await miscounted(messaging)).toEqual([]);
  await expectTrueChannels(messaging);
});

test('under an Idempotency-Key, a repetition after the kill gets the first answer and sends no second message', async () => {
  const keyed = attempts.flatMap(({ idempotency, ...attempt }) => (idempotency ? [{ ...attempt, idempotency }] : []));
  const before = (await read()).length;
  let added = 0;
  for (const attempt of keyed) {
    const { status, body, headers } = await sendUnder(messaging, attempt, attempt.idempotency);
    expect(status).toBe(201);
    const isReplayed = headers.get('idempotency-replayed') === 'true';
    if (attempt.answer !== undefined) expect([isReplayed, body]).toEqual([true, attempt.answer.body]);
    if (!isReplayed) added += linesOf(attempt, channel_id).length;
  }
  const lines = await read();
  expect(notOnce(keyed, lines)).toEqual([]);
  expect(lines.length).toBe(before + added);
});
