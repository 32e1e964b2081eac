import { SearchService } from '@acsp/contracts/search/v1/search';
import { AppError } from '@acsp/errors';
import { requestFields, toMessage } from '@acsp/operation';
import { serveRpc } from '@acsp/rpc';
import { createStack } from '@acsp/service';
import { agent, startTasks } from './harness.js';
import { stepsOf } from './steps.js';

const stack = createStack();
const [ann, fit, newcomer, unlucky, slow] = [agent('Ann'), agent('Fit'), agent('New'), agent('Unlucky'), agent('Slow')];
const asked: string[] = [];
let release = () => {};
const released = new Promise<void>((resolve) => {
  release = resolve;
});

/** A search service that knows one agent, fails for another and keeps a third waiting. */
async function serveSearch() {
  const door = await serveRpc({
    service: SearchService,
    host: '127.0.0.1',
    port: 0,
    async handle(desc, request) {
      const { aid, text } = requestFields(desc.input, request) as { aid: string; text: string };
      asked.push(text);
      if (aid === unlucky.aid) throw new AppError('INTERNAL_ERROR');
      if (aid === slow.aid) await released;
      return toMessage(desc.output, { score: aid === newcomer.aid ? null : 0.75 });
    },
  });
  return stack.use(door).address;
}
const searching = serveSearch();

const start = async (matchTimeoutMs?: number) =>
  stepsOf(stack.use(await startTasks({ searchAddress: await searching, matchTimeoutMs })));
// On a machine that is busy with other tests, 300 ms may pass before a quick search is heard.
const starting = start(5_000);
afterAll(() => {
  release();
  return stack[Symbol.asyncDispose]();
});

test('a claim carries how well its agent fits the title, description, requirements and tags', async () => {
  const steps = await starting;
  const id = await steps.created(ann, { requirements: ['scales'], tags: ['rock'] });
  const { body } = await steps.claim(fit, id);
  expect(body.claim.match_score).toBe(0.75);
  expect(asked).toEqual(['Count stones\nAll of them\nscales\nrock']);
  expect((await steps.details(ann, id)).body.claims).toEqual([body.claim]);
});

const accepted = { status: 200, body: { claim: { status: 'accepted', match_score: null } } };

test.each([
  ['does not know the agent', newcomer],
  ['fails', unlucky],
])('a claim is accepted without a score where search %s', async (_what, who) => {
  const steps = await starting;
  expect(await steps.claim(who, await steps.created(ann))).toMatchObject(accepted);
});

test('a claim is accepted without a score where search does not answer in time', async () => {
  const steps = await start();
  const id = await steps.created(ann);
  const started = Date.now();
  expect(await steps.claim(slow, id)).toMatchObject(accepted);
  expect(Date.now() - started).toBeLessThan(3_000);
});

test('a claim that is refused asks nothing', async () => {
  const steps = await starting;
  const id = await steps.created(ann);
  const before = asked.length;
  await steps.claim(ann, id);
  expect(asked).toHaveLength(before);
});
