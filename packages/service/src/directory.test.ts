import { type Directory, keepRecent } from './directory.js';

const registered = new Date(0);

/** Agents that come and go, the questions about them, and a clock that stands still. */
function world() {
  const active = new Set(['ann', 'bob']);
  const questions: (readonly string[])[] = [];
  const time = { ms: 0 };
  const directory: Directory = async (aids) => {
    questions.push(aids);
    return new Map(aids.filter((aid) => active.has(aid)).map((aid) => [aid, registered]));
  };
  return { active, questions, time, recipients: keepRecent(directory, () => time.ms) };
}

test('an agent is looked up once in half a second', async () => {
  const { questions, time, recipients } = world();
  for (const ms of [0, 499, 500, 999]) {
    time.ms = ms;
    expect((await recipients(['ann'])).get('ann')).toEqual(registered);
  }
  expect(questions).toEqual([['ann'], ['ann']]);
});

test('an agent that is gone is not found half a second later', async () => {
  const { active, time, recipients } = world();
  for (const ms of [0, 300]) {
    time.ms = ms;
    await recipients(['ann', 'bob']);
  }
  active.delete('ann');
  time.ms = 500;
  expect([...(await recipients(['ann', 'bob'])).keys()]).toEqual(['bob']);
});

test('a look-up that comes back late counts from its beginning', async () => {
  let release = () => {};
  const asked: number[] = [];
  const time = { ms: 400 };
  const slow: Directory = async (aids) => {
    asked.push(time.ms);
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return new Map(aids.map((aid) => [aid, registered]));
  };
  const recipients = keepRecent(slow, () => time.ms);
  const first = recipients(['ann']);
  time.ms = 900;
  release();
  await first;
  const second = recipients(['ann']);
  release();
  await second;
  expect(asked).toEqual([400, 900]);
});

test('an agent that was not there is looked up again at once, and only those that are not known are', async () => {
  const { active, questions, recipients } = world();
  await recipients(['ann', 'new']);
  active.add('new');
  expect((await recipients(['ann', 'new'])).has('new')).toBe(true);
  expect(questions).toEqual([['ann', 'new'], ['new']]);
});

test('a look-up that fails is not kept', async () => {
  let fails = true;
  const directory: Directory = async (aids) => {
    if (fails) throw new Error('away');
    return new Map(aids.map((aid) => [aid, registered]));
  };
  const recipients = keepRecent(directory, () => 0);
  await expect(recipients(['ann'])).rejects.toThrow('away');
  fails = false;
  expect((await recipients(['ann'])).has('ann')).toBe(true);
});
