import type { Agent } from '@acsp/operation';
import { deletionOf, eventually } from '@acsp/testkit';
import pg from 'pg';
import { type Channels, channelsOf, codeOf, listed, newName } from './channels.js';
import { type Answer, agent, type Messaging, startMessaging } from './harness.js';
import { expectTrueChannels } from './true-channels.js';

// Two replicas on one database, the clock of one of which is a second behind.

let replicas: [Messaging, Messaging];
let doors: [Channels, Channels];
const ann = agent('Ann');
const globalId = '00000000-0000-7000-8000-676c6f62616c';

beforeAll(async () => {
  const first = await startMessaging();
  const slow = { now: () => new Date(Date.now() - 1_000) };
  replicas = [first, await startMessaging({ databaseUrl: first.databaseUrl, clock: slow })];
  doors = [channelsOf(replicas[0]), channelsOf(replicas[1])];
});
afterAll(async () => {
  for (const replica of replicas.toReversed()) await replica[Symbol.asyncDispose]();
});
afterEach(() => expectTrueChannels(replicas[0]));

const door = (n: number) => doors[n % 2] as Channels;
const many = (count: number) => Array.from({ length: count }, (_, n) => agent(`Agent ${n}`));
/** How many answers were like this. */
const count = (answers: readonly Answer[], code: string) => answers.filter((answer) => codeOf(answer) === code).length;
const remove = (who: Agent, n = 0) => (replicas[n % 2] as Messaging).running.departures.onDeleted(deletionOf(who));

test('100 agents that join at once are all counted', async () => {
  const id = await door(0).made(ann);
  const answers = await Promise.all(many(100).map((who, n) => door(n).join(who, id)));
  expect(count(answers, '200')).toBe(100);
  expect(listed(await door(0).list(ann), id).members).toBe(101);
});

test('an agent that joins twice at once is one member', async () => {
  const id = await door(0).made(ann);
  const [bob] = many(1) as [Agent];
  const answers = await Promise.all([0, 1, 0, 1].map((n) => door(n).join(bob, id)));
  expect(count(answers, '200')).toBe(4);
  expect(listed(await door(0).list(ann), id).members).toBe(2);
});

test('of many who take one name at once one gets it', async () => {
  const name = newName();
  const answers = await Promise.all(many(10).map((who, n) => door(n).create(who, { name })));
  expect([count(answers, '201'), count(answers, '409 CHANNEL_EXISTS')]).toEqual([1, 9]);
});

test('an agent that many invite at once gets one notice', async () => {
  const inviters = many(6);
  const [zoe] = many(1) as [Agent];
  const id = await door(0).made(ann, { members: inviters });
  const answers = await Promise.all(inviters.map((who, n) => door(n).invite(who, id, zoe.aid)));
  expect(count(answers, '201')).toBe(6);
  expect((await replicas[0].call(zoe, 'GET /inbox')).body.total).toBe(1);
});

test('invitations and messages that meet in mailboxes are all counted, and times there do not go back', async () => {
  const agents = many(4);
  const ids = await Promise.all(agents.map((who) => door(0).made(who)));
  const pairs = agents.flatMap((from, n) => agents.map((to) => ({ from, to, id: ids[n] as string })));
  const answers = await Promise.all(
    pairs
      .filter(({ from, to }) => from !== to)
      .flatMap(({ from, to, id }, n) => [
        door(n).invite(from, id, to.aid),
        (replicas[n % 2] as Messaging).call(from, 'POST /message/send', { target_aid: to.aid, content: 'Hello' }),
      ]),
  );
  expect(count(answers, '201')).toBe(24);
  for (const who of agents) {
    expect((await replicas[0].call(who, 'GET /inbox?limit=100')).body).toMatchObject({ total: 6, unread_count: 6 });
  }
  const behind = await replicas[0].context.database.prisma.$queryRaw`
    SELECT aid FROM mailbox WHERE last_at <> (SELECT max(created_at) FROM message WHERE aid IN (to_aid, from_aid))`;
  expect(behind).toEqual([]);
});

test.each([false, true])(
  'posts of many agents at once are all written, in one order, with a key: %s',
  async (keyed) => {
    const agents = many(40);
    await Promise.all(agents.map((who, n) => door(n).join(who, globalId)));
    const posts = Array.from({ length: 5 }, (_, round) =>
      agents.map((who, n) => {
        const key = `${keyed} ${round} ${n}`;
        const caller = keyed ? { ...who, idempotency: { key, print: key } } : who;
        return door(n).post(caller, globalId, key);
      }),
    );
    const answers = await Promise.all(posts.flat());
    expect(count(answers, '201')).toBe(200);
    const rows = await replicas[0].context.database.prisma.channelMessage.findMany();
    const stored = new Map(rows.map(({ id, created_at }) => [id, created_at.toISOString()]));
    for (const { body } of answers) expect(stored.get(body.id)).toBe(body.created_at);
  },
);

test('a reader that goes on from the newest message it knows misses none', async () => {
  const name = newName();
  const agents = many(20);
  const id = await door(0).made(ann, { name, members: agents });
  const seen: string[] = [];
  let done = false;
  const read = async () => {
    const { messages } = (await door(1).messages(ann, name, '&limit=100')).body;
    const ids: string[] = messages.map(({ id }: { id: string }) => id).reverse();
    const known = ids.indexOf(seen.at(-1) ?? '');
    seen.push(...ids.slice(known + 1));
  };
  const reading = (async () => {
    while (!done) await read();
  })();
  const answers: Answer[] = [];
  for (let round = 0; round < 4; round += 1) {
    answers.push(...(await Promise.all(agents.map((who, n) => door(n).post(who, id)))));
    await eventually(() => seen.length >= answers.length - agents.length);
  }
  done = true;
  await reading;
  await read();
  const rows = await replicas[0].context.database.prisma.channelMessage.findMany({
    where: { channel_id: id },
    orderBy: { position: 'asc' },
  });
  expect(seen).toEqual(rows.map((row) => row.id));
  expect([...seen].sort()).toEqual(answers.map(({ body }) => body.id).sort());
});

test('agents that are deleted while they join and post are members of nothing in the end', async () => {
  const agents = many(30);
  const ids = [await door(0).made(ann), await door(0).made(ann), await door(0).made(ann)];
  await Promise.all(agents.map((who, n) => door(n).join(who, ids[0] as string)));
  const busy = agents.flatMap((who, n) => [
    ...ids.map((id) => door(n).join(who, id)),
    door(n).post(who, ids[0] as string),
    remove(who, n),
    remove(who, n + 1),
    door(n + 1).post(who, ids[0] as string),
  ]);
  await Promise.all(busy);
  await Promise.all(replicas.map(({ running }) => running.departures.sweep()));
  for (const id of ids) expect(listed(await door(0).list(ann), id).members).toBe(1);
  const late = await Promise.all(agents.map((who, n) => door(n).post(who, ids[0] as string)));
  expect(count(late, '403 NOT_MEMBER')).toBe(30);
});

test('a post is refused whose author leaves between the decision and the write', async () => {
  const [bob] = many(1) as [Agent];
  const id = await door(0).made(ann, { members: [bob] });
  const other = new pg.Client({ connectionString: replicas[0].databaseUrl });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('SELECT FROM channel WHERE channel_id = $1 FOR UPDATE', [id]);
    const post = door(0).post(bob, id, 'Late');
    await eventually(async () => {
      const { rows } = await other.query(
        'SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))',
      );
      return rows.length > 0;
    });
    await other.query('DELETE FROM channel_member WHERE channel_id = $1 AND aid = $2', [id, bob.aid]);
    await other.query('UPDATE channel SET members = members - 1, departures = departures + 1 WHERE channel_id = $1', [
      id,
    ]);
    await other.query(
      "INSERT INTO bus.outbox (id, type, audience, payload) VALUES (gen_random_uuid(), 'channel.left', '{}', jsonb_build_object('channel_id', $1::text))",
      [id],
    );
    await other.query('COMMIT');
    expect(codeOf(await post)).toBe('403 NOT_MEMBER');
  } finally {
    await other.end();
  }
});
