import { EventsService } from '@acsp/contracts/events/v1/events';
import { AppError } from '@acsp/errors';
import { requestFields, toMessage } from '@acsp/operation';
import { serveRpc } from '@acsp/rpc';
import { createStack } from '@acsp/service';
import { eventually } from '@acsp/testkit';
import { anonymous, type Identity, type Registered, registered, startIdentity } from './harness.js';

interface Question {
  readonly aids: readonly string[];
  readonly registered_at: readonly Date[];
}

const last_seen = new Date('2026-01-01T00:00:00Z');
const busy = { status: 'busy', last_seen: last_seen.toISOString() };
const neverSeen = { status: 'offline', last_seen: null };

const stack = createStack();
let identity: Identity;
let questions: Question[] = [];
/** How the events service answers. */
let answer: (aids: readonly string[]) => Promise<readonly object[]>;
const allBusy = async (aids: readonly string[]) => aids.map((aid) => ({ aid, status: 'busy', last_seen }));

beforeAll(async () => {
  const door = stack.use(
    await serveRpc({
      service: EventsService,
      host: '127.0.0.1',
      port: 0,
      async handle(desc, request) {
        const question = requestFields(desc.input, request) as unknown as Question;
        questions.push(question);
        return toMessage(desc.output, { presences: await answer(question.aids) });
      },
    }),
  );
  identity = stack.use(await startIdentity({ env: { EVENTS_GRPC: door.address } }));
});
afterAll(() => stack[Symbol.asyncDispose]());
beforeEach(() => {
  questions = [];
  answer = allBusy;
});

const statusOf = ({ aid }: Pick<Registered, 'aid'>) => identity.call(anonymous, `GET /status?aid=${aid}`);
const presenceOf = async (agent: Registered) => (await statusOf(agent)).body.presence;

test('shows the presence of an agent in its present life', async () => {
  const agent = await registered(identity);
  expect(await presenceOf(agent)).toEqual(busy);
  expect(questions).toEqual([{ aids: [agent.aid], registered_at: [new Date(agent.registeredAt)] }]);
});

test('asks for agents that are looked up at the same time together', async () => {
  const agents = await Promise.all(Array.from({ length: 30 }, () => registered(identity)));
  expect(await Promise.all(agents.map(presenceOf))).toEqual(agents.map(() => busy));
  expect(questions.length).toBeLessThan(agents.length);
  expect(questions.flatMap(({ aids }) => aids).sort()).toEqual(agents.map(({ aid }) => aid).sort());
});

test('asks for nobody who is not there', async () => {
  expect((await statusOf({ aid: '0'.repeat(50) })).status).toBe(404);
  expect(questions).toEqual([]);
});

describe('an events service', () => {
  const never = new Promise<never>(() => {});

  test.each([
    ['that does not answer', () => never],
    ['that fails', () => Promise.reject(new AppError('INTERNAL_ERROR'))],
    ['that is not ready', () => Promise.reject(new AppError('SERVICE_UNAVAILABLE'))],
    ['that answers too little', async () => []],
  ])('%s has never seen anybody, and is believed again when it answers', async (_, fault) => {
    const agent = await registered(identity);
    answer = fault;
    const { status, body } = await statusOf(agent);
    expect([status, body.agent_name, body.presence]).toEqual([200, 'Ann', neverSeen]);
    answer = allBusy;
    await eventually(async () => (await presenceOf(agent)).status === 'busy');
  });

  test('that is away has never seen anybody', async () => {
    await using alone = await startIdentity({ env: { EVENTS_GRPC: '127.0.0.1:9' } });
    const { aid } = await registered(alone);
    const { status, body } = await alone.call(anonymous, `GET /status?aid=${aid}`);
    expect([status, body.presence]).toEqual([200, neverSeen]);
  });
});
