import { agent, type Messaging, startMessaging } from './harness.js';
import { contentsOf, holdMailbox, type Letters, lettersOf, miscounted } from './letters.js';

let first: Messaging;
let second: Messaging;
let replicas: readonly [Letters, Letters];
const [ann, bob, eve] = [agent('Ann'), agent('Bob'), agent('Eve')];

beforeAll(async () => {
  first = await startMessaging();
  second = await startMessaging({ databaseUrl: first.databaseUrl });
  replicas = [lettersOf(first), lettersOf(second)];
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
});

test('counts are exact under concurrent sends and reads at two replicas', async () => {
  const crowd = Array.from({ length: 8 }, (_, n) => agent(`Crowd ${n}`));
  const chatter = crowd.map(async (who, n) => {
    for (let round = 0; round < 15; round += 1) {
      const at = replicas[(n + round) % 2] as Letters;
      const to = crowd[(n + round + 1) % crowd.length] as typeof who;
      if (to.aid !== who.aid) expect((await at.send(who, to, `${n} ${round}`)).status).toBe(201);
      if (round % 5 === 2) {
        const { messages } = await at.inbox(who, '&limit=3');
        const message_ids = messages.map(({ id }: { id: string }) => id);
        if (message_ids.length > 0) expect((await at.read(who, { message_ids })).status).toBe(200);
      }
      if (round % 5 === 4) expect((await at.read(who, { all: true })).status).toBe(200);
    }
  });
  await Promise.all(chatter);
  expect(await miscounted(first)).toEqual([]);
});

test('fifty messages at once to one agent are all there, and the first ones open its mailbox once', async () => {
  const target = agent('Popular');
  const sent = await Promise.all(
    Array.from({ length: 50 }, (_, n) => (replicas[n % 2] as Letters).send(agent(`Fan ${n}`), target, `${n}`)),
  );
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([201]));
  const { messages, total } = await replicas[0].inbox(target, '&limit=100');
  expect(total).toBe(50);
  expect(new Set(contentsOf(messages)).size).toBe(50);
});

test('a locked mailbox keeps nobody else waiting, and its own message is sent afterwards', async () => {
  await replicas[0].send(ann, eve, 'opens both');
  const held = await holdMailbox(first, eve.aid);
  const waiting = replicas[0].send(ann, eve, 'waits');
  const others = await Promise.all(
    Array.from({ length: 5 }, (_, n) => replicas[0].send(agent(`Other ${n}`), bob, 'goes on')),
  );
  expect(others.map(({ status }) => status)).toEqual(Array(5).fill(201));
  await held[Symbol.asyncDispose]();
  expect((await waiting).status).toBe(201);
});

test('a mailbox that stays locked is a 503, and nothing is sent later', async () => {
  const [from, to] = [agent('From'), agent('To')];
  await replicas[0].send(from, to, 'opens both');
  const held = await holdMailbox(first, to.aid);
  expect(await replicas[0].send(from, to, 'too late')).toMatchObject({
    status: 503,
    body: { code: 'SERVICE_UNAVAILABLE' },
  });
  await held[Symbol.asyncDispose]();
  expect(contentsOf((await replicas[0].inbox(to)).messages)).toEqual(['opens both']);
});

describe('under an Idempotency-Key', () => {
  let keys = 0;
  const newKey = () => ({ key: `messaging ${keys++}`, print: 'print' });

  test.each([
    ['a message', '/message/send', { target_aid: bob.aid, content: 'Once' }],
    ['a compact message', '/message/send', { to: bob.aid, content: 'Once' }],
    ['a broadcast', '/message/broadcast', { to_aids: [bob.aid, eve.aid], body: 'Once' }],
    ['a proposal', '/connect/propose', { to_aid: bob.aid, proposal: { type: 'x' } }],
  ])('%s is sent once, whichever replica the repetition reaches', async (_what, path, body) => {
    const who = { ...agent('Repeats'), idempotency: newKey() };
    const ask = (at: Messaging) => at.call(who, `POST ${path}`, body);
    const answers = await Promise.all([first, second, first, second].map(ask));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect((await ask(first)).headers.get('idempotency-replayed')).toBe('true');
    const { prisma } = first.context.database;
    expect(await prisma.message.count({ where: { from_aid: who.aid, to_aid: bob.aid } })).toBe(1);
  });
});
