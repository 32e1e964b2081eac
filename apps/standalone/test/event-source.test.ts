import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '@acsp/testkit';
import { startWorld, type World } from './harness.js';
import { eventToken, radioUrl, shortToken } from './radio/event-token.js';
import { talk } from './radio/talk.js';

// Node programs take this in place of a browser's EventSource. It knows one URL, and comes back to it after each end, with the id that it had last.

const program = fileURLToPath(new URL('radio/event-source.mjs', import.meta.url));
const closings = 4;

let world: World;
beforeAll(async () => {
  world = await startWorld({ env: { STREAM_SECONDS: '2' } });
});
afterAll(() => world[Symbol.asyncDispose]());

test(`npm's EventSource sees every message once and in order through ${closings} ends of its stream, also after its token has expired`, async () => {
  const [ann, bob] = [await world.quickstart('Ann'), await world.quickstart('Bob')];
  const short = await shortToken(world, ann, 10);
  await using listener = listen(radioUrl(world, await eventToken(world, ann)));
  await using late = listen(radioUrl(world, short));
  const listeners = [listener, late];
  await eventually(() => listeners.every(({ heard }) => heard('connected').length > 0), { timeoutMs: 9_000 });

  await using talking = talk(world, bob, ann);
  await eventually(() => listeners.every(({ heard }) => heard('closing').length >= closings), { timeoutMs: 60_000 });
  const sent = await talking.stop();
  for (const { heard } of listeners) {
    await eventually(() => heard('message').length >= sent.length);
    expect(heard('message').map(({ body }) => body)).toEqual(sent);
    expect(new Set(heard('closing').map(({ reason }) => reason))).toEqual(new Set(['max_duration']));
    expect(heard('refused')).toEqual([]);
  }
  const anew = await world.send(`GET /events/radio?token=${short}`);
  expect([anew.status, anew.body?.code]).toEqual([401, 'INVALID_TOKEN']);
}, 120_000);

type Data = Readonly<Record<string, unknown>>;

/** A process that listens. */
function listen(url: string) {
  const child = spawn(process.execPath, [program, url], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: { readonly kind: string; readonly data: Data }[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)));
  const ended = new Promise((resolve) => child.once('close', resolve));
  return {
    heard: (kind: string): Data[] => lines.filter((line) => line.kind === kind).map(({ data }) => data),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}
