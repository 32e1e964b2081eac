import type { Bus } from '@acsp/bus';
import { EventSchema } from '@acsp/contracts/events/v1/event';
import { AgentEventSchema } from '@acsp/contracts/identity/v1/events';
import { create } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { cacheActive, type Directory } from './directory.js';

const registered = new Date(0);

type Watcher = Parameters<Bus['watch']>[0];

/** Agents that come and go, the questions about them, what the bus says, and a clock that stands still. */
function world(lookUp?: Directory) {
  const active = new Set(['ann', 'bob']);
  const questions: (readonly string[])[] = [];
  const time = { ms: 1 };
  const directory: Directory = async (aids) => {
    questions.push(aids);
    return lookUp?.(aids) ?? new Map(aids.filter((aid) => active.has(aid)).map((aid) => [aid, registered]));
  };
  let watcher: Watcher | undefined;
  const bus = {
    watch(given: Watcher) {
      watcher = given;
      return { [Symbol.asyncDispose]: async () => {} };
    },
  };
  const recipients = cacheActive(directory, { bus, use: (resource) => resource, nowMs: () => time.ms });
  const end = (aid: string) => {
    active.delete(aid);
    const payload = anyPack(AgentEventSchema, create(AgentEventSchema, { aid }));
    watcher?.handle(create(EventSchema, { type: 'agent.deleted', payload }));
  };
  const setLive = (live: boolean) => watcher?.onLive?.(live);
  setLive(true);
  return { active, questions, time, recipients, end, setLive };
}

test('an agent is looked up once in five seconds while the bus tells of ends, and once in half a second while it does not', async () => {
  const { questions, time, recipients, setLive } = world();
  for (const ms of [1, 5_000, 5_002]) {
    time.ms = ms;
    expect((await recipients(['ann'])).get('ann')).toEqual(registered);
  }
  expect(questions).toHaveLength(2);
  setLive(false);
  for (const ms of [6_000, 6_500, 6_502]) {
    time.ms = ms;
    await recipients(['ann']);
  }
  expect(questions).toHaveLength(4);
});

test('an agent that is gone is not found once the bus has told of it', async () => {
  const { recipients, end } = world();
  await recipients(['ann', 'bob']);
  end('ann');
  expect([...(await recipients(['ann', 'bob'])).keys()]).toEqual(['bob']);
});

test('an agent that ends while it is looked up is not cached', async () => {
  let release = () => {};
  const { questions, recipients, end } = world(async (aids) => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return new Map(aids.map((aid) => [aid, registered]));
  });
  const first = recipients(['ann']);
  end('ann');
  release();
  await first;
  const second = recipients(['ann']);
  release();
  await second;
  expect(questions).toEqual([['ann'], ['ann']]);
});

test('what was cached is not believed after a time in which the bus told nothing', async () => {
  const { active, recipients, setLive } = world();
  await recipients(['ann']);
  setLive(false);
  active.delete('ann');
  setLive(true);
  expect((await recipients(['ann'])).has('ann')).toBe(false);
});

test('an agent that was not there is looked up again at once, and only those that are not known are', async () => {
  const { active, questions, recipients } = world();
  await recipients(['ann', 'new']);
  active.add('new');
  expect((await recipients(['ann', 'new'])).has('new')).toBe(true);
  expect(questions).toEqual([['ann', 'new'], ['new']]);
});

test('a look-up that fails is not cached', async () => {
  let fails = true;
  const { recipients } = world(async (aids) => {
    if (fails) throw new Error('away');
    return new Map(aids.map((aid) => [aid, registered]));
  });
  await expect(recipients(['ann'])).rejects.toThrow('away');
  fails = false;
  expect((await recipients(['ann'])).has('ann')).toBe(true);
});
