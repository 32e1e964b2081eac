import { createHash } from 'node:crypto';
import { describeWith, eventually, ownNats, ownRedis } from '@acsp/testkit';
import { expectTrueTables } from '../../tasks/test/true-tables.js';
import { registration, startReplicas, type TestAgent, type World } from './harness.js';

// Everything that can be done to a task, sent at once, while its worker deletes its account and registers again. Answers may be refusals; the
// tables must be true afterwards, and nothing may be an error of the service.

const rounds = 280;
/** Rounds that run side by side, each with a worker of its own. */
const lanes = 5;

describe('in one process', () => suite(async () => startReplicas(1)));

describeWith(['own nats', 'own redis'], 'on two replicas of everything, with one database, NATS and Redis', () => {
  let servers: AsyncDisposable[] = [];
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });
  suite(async () => {
    const [nats, redis] = await Promise.all([ownNats(), ownRedis()]);
    servers = [nats, redis];
    return startReplicas(2, { env: { NATS_URL: nats.url, REDIS_URL: redis.url } });
  });
});

function suite(start: () => Promise<World[]>): void {
  let worlds: World[] = [];
  let creator: TestAgent;
  let turn = 0;
  /** The replicas in turn. */
  const world = () => worlds[turn++ % worlds.length] as World;

  beforeAll(async () => {
    worlds = await start();
    creator = await world().quickstart('Carla');
  });
  afterAll(async () => {
    await worlds[0]?.[Symbol.asyncDispose]();
  });

  test(`${rounds} rounds of all operations break no rule, and no answer is a 5xx`, async () => {
    const answers: Outcome[] = [];
    let left = rounds;
    const lane = async (n: number) => {
      let worker = await world().register(`Walt ${n}`);
      while (left > 0) {
        left -= 1;
        const made = await playRound(world, { creator, worker, round: left });
        answers.push(...made);
        worker = await registeredAgain(world(), worker, made);
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, n) => lane(n)));
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    // Each of these has worked, else nothing was tried; the others come too late in most rounds.
    const worked = new Set(answers.filter(({ status }) => status < 300).map(({ operation }) => operation));
    for (const operation of ['claim', 'unclaim', 'approve', 'reject', 'cancel', 'delegate', 'message', 'leave'])
      expect(worked).toContain(operation);
    const [first] = worlds as [World];
    const query = async (text: string) => (await first.database('tasks').query(text)).rows;
    await expectTrueTables(query);
    await eventually(() => expectNothingLeftBehind(first), { timeoutMs: 60_000, intervalMs: 200 });
    await expectTrueTables(query);
  }, 180_000);
}

interface Outcome {
  readonly operation: string;
  readonly status: number;
  readonly code?: string;
  readonly loginKey?: string;
}

interface Round {
  readonly creator: TestAgent;
  readonly worker: TestAgent;
  /** Its remainder chooses how far the task is when everything is sent. */
  readonly round: number;
}

const operations = [
  'claim',
  'resolve',
  'start',
  'unclaim',
  'submit',
  'approve',
  'reject',
  'cancel',
  'delegate',
  'message',
  'leave',
  'register',
] as const;
type Operation = (typeof operations)[number];

/** One task, led to some status, and then all operations on it at once but the last three, in an order that changes with the round. */
async function playRound(world: () => World, { creator, worker, round }: Round): Promise<Outcome[]> {
  const several = round % 4 === 2;
  const draft = { title: `Round ${round}`, description: 'Everything at once', max_claims: several ? 2 : 1 };
  const task_id = (await world().call(creator, 'POST /tasks', draft)).body.task.id;
  const claimed = round % 2 === 0 ? await world().call(worker, 'POST /tasks/claim', { task_id }) : undefined;
  if (round % 4 === 0) await world().call(worker, 'POST /tasks/submit', { task_id, result_text: 'Early' });
  const claim_id = claimed?.body.claim?.id ?? task_id;
  const move = (who: TestAgent, action: string) => world().call(who, 'POST /tasks/update', { task_id, action });
  const calls: Record<Operation, () => ReturnType<World['call']>> = {
    claim: () => world().call(worker, 'POST /tasks/claim', { task_id }),
    resolve: () => world().call(creator, 'POST /tasks/claims/resolve', { task_id, claim_id, decision: 'accept' }),
    start: () => move(worker, 'start'),
    unclaim: () => move(worker, 'unclaim'),
    submit: () => world().call(worker, 'POST /tasks/submit', { task_id, result_text: 'Done' }),
    approve: () => move(creator, 'approve'),
    reject: () => move(creator, 'reject'),
    cancel: () => move(creator, 'cancel'),
    delegate: () =>
      world().call(creator, 'POST /tasks/delegate', { parent_id: task_id, title: 'Part', description: 'of it' }),
    message: () => world().call(worker, 'POST /tasks/message', { task_id, content: 'Here I am' }),
    leave: () => world().call(worker, 'POST /account-delete', { aid: worker.aid, confirm: true }),
    register: () => world().callSigned(worker, 'POST /register', registration(worker)),
  };
  const rank = (operation: Operation) => createHash('sha256').update(`${operation} ${round}`).digest().readUInt32BE();
  const order = [...operations].sort((a, b) => rank(a) - rank(b));
  return Promise.all(
    order.slice(0, -3).map(async (operation) => {
      const { status, body } = await calls[operation]();
      return { operation, status, code: body.code, loginKey: body.login_key };
    }),
  );
}

/** The worker as it lives on: with the login key of a new life that began in the round, or begins now where it has left. */
async function registeredAgain(world: World, worker: TestAgent, answers: readonly Outcome[]): Promise<TestAgent> {
  if (answers.every(({ operation }) => operation !== 'leave')) return worker;
  const loginKey = answers.find(({ operation }) => operation === 'register')?.loginKey;
  return loginKey === undefined ? world.register(worker.name, worker) : { ...worker, loginKey };
}

/** A life of an agent that has ended holds neither open tasks nor live claims. */
async function expectNothingLeftBehind(world: World): Promise<void> {
  const { rows: agents } = await world.database('identity').query('SELECT aid, created_at FROM agent');
  const since = new Map(agents.map(({ aid, created_at }) => [aid, created_at.getTime()]));
  const { rows: held } = await world.database('tasks').query(`
    SELECT agent_aid AS aid, agent_since AS since, task_id FROM claim WHERE status IN ('pending', 'accepted')
      AND EXISTS (SELECT FROM task WHERE id = task_id AND status IN ('open', 'claimed', 'in_progress'))
    UNION ALL SELECT creator_aid, creator_since, id FROM task WHERE status IN ('open', 'claimed', 'in_progress', 'review')`);
  expect(held.filter((row) => row.since.getTime() !== since.get(row.aid))).toEqual([]);
}
