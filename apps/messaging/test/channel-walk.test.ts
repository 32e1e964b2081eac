import type { Agent } from '@acsp/operation';
import { deletionOf } from '@acsp/testkit';
import fc from 'fast-check';
import { type Channels, channelsOf, codeOf } from './channels.js';
import { agent, type Messaging, startMessaging } from './harness.js';
import { expectTrueChannels } from './true-channels.js';

// Agents do at random, and at once, whatever there is to do with channels: the tables stay true.

const registered = new Map<string, number>();
let replicas: [Messaging, Messaging];
/** The number of times that each answer came up. */
const met = new Map<string, number>();

beforeAll(async () => {
  const first = await startMessaging({ registered });
  replicas = [first, await startMessaging({ registered, databaseUrl: first.databaseUrl })];
});
afterAll(async () => {
  for (const replica of replicas.toReversed()) await replica[Symbol.asyncDispose]();
});

const acts = ['join', 'join', 'post', 'post', 'broadcast', 'invite', 'return'] as const;
const step = fc.record({
  act: fc.constantFrom(...acts),
  who: fc.nat(3),
  whom: fc.nat(3),
  channel: fc.nat(2),
  replica: fc.nat(1),
});
type Step = typeof step extends fc.Arbitrary<infer Of> ? Of : never;
/** The steps of one group happen at once. */
const walks = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 8 });

interface World {
  readonly agents: Agent[];
  readonly lives: Agent[];
  readonly ids: readonly string[];
}

async function createWorld(): Promise<World> {
  const agents = Array.from({ length: 4 }, (_, n) => agent(`Agent ${n}`));
  const { made } = channelsOf(replicas[0]);
  const [creator] = agents as [Agent];
  const ids = [
    ...[await made(creator), await made(creator, { is_public: false })],
    await made(creator, { channel_type: 'announce' }),
  ];
  return { agents, lives: [...agents], ids };
}

/** The agent is deleted, and registers again while its deletion is carried out. */
async function comeBack({ agents, lives }: World, index: number, { running }: Messaging): Promise<void> {
  const former = agents[index] as Agent;
  const back = { ...former, registeredAt: (former.registeredAt ?? 0) + 1 };
  agents[index] = back;
  lives.push(back);
  registered.set(back.aid, back.registeredAt);
  await running.departures.onDeleted(deletionOf(former));
}

async function take(world: World, { act, who, whom, channel, replica }: Step): Promise<void> {
  const service = replicas[replica] as Messaging;
  if (act === 'return') return comeBack(world, who, service);
  const channels: Channels = channelsOf(service);
  const [caller, id] = [world.agents[who] as Agent, world.ids[channel] as string];
  const answer = await (act === 'invite'
    ? channels.invite(caller, id, world.agents[whom]?.aid ?? '')
    : channels[act](caller, id));
  met.set(codeOf(answer), (met.get(codeOf(answer)) ?? 0) + 1);
}

async function walk(groups: readonly (readonly Step[])[]): Promise<void> {
  const world = await createWorld();
  for (const group of groups) {
    await Promise.all(group.map((step) => take(world, step)));
    await expectTrueChannels(replicas[0]);
  }
  for (const life of world.lives) await replicas[0].running.departures.onDeleted(deletionOf(life));
  await replicas[1].running.departures.sweep();
  await expectTrueChannels(replicas[0]);
  const { prisma } = replicas[0].context.database;
  const left = await prisma.channel.findMany({ where: { channel_id: { in: [...world.ids] } } });
  expect(left.map(({ members }) => members)).toEqual([0, 0, 0]);
}

test('counts, positions, times and events stay true', async () => {
  await fc.assert(fc.asyncProperty(walks, walk), { numRuns: 20, interruptAfterTimeLimit: 60_000 });
}, 90_000);

test('the walks have met every answer, and no other', () => {
  const codes = ['200', '201', '403 NOT_MEMBER', '403 PERMISSION_DENIED', '404 CHANNEL_NOT_FOUND'];
  expect([...met.keys()].sort()).toEqual(codes);
});
