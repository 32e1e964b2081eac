import { catalogue, isErrorCode } from '@acsp/errors';
import { services } from '../src/services.js';
import { type Case, caseOf, credentialCases, fieldValues, plainCase, requestCases } from './bad-input/cases.js';
import type { Others } from './bad-input/credentials.js';
import type { Cast, Sample } from './bad-input/sample.js';
import { samples } from './bad-input/samples.js';
import { snapshot } from './bad-input/snapshot.js';
import { ownFields, type Target, targets } from './bad-input/targets.js';
import { type Answer, startWorld, type World } from './harness.js';

// Every field of every operation, from the tables of the services, with every value that it must withstand.

let world: World;
let cast: Cast;
let others: Others;

beforeAll(async () => {
  world = await startWorld();
  const agent = (name: string) => world.quickstart(name);
  cast = { world, ann: await agent('Ann'), bob: await agent('Bob') };
  others = { other: await agent('Otto'), expired: await agent('Ella') };
  const aged = `UPDATE login_key SET created_at = now() - interval '91 days', expires_at = now() - interval '1 day' WHERE aid = $1`;
  await world.database('identity').query(aged, [others.expired.aid]);
});
afterAll(() => world[Symbol.asyncDispose]());

const sampleOf = async ({ name }: Target): Promise<Sample> => {
  const make = samples[name];
  if (make === undefined) throw new Error(`${name} has no sample: add one to samples.ts`);
  return make(cast);
};

describe.each(targets)('$name', (target) => {
  test('has a sample of every field, which it takes', async () => {
    const sample = await sampleOf(target);
    const names = ownFields(target).map(({ name }) => name);
    expect(Object.keys(sample.fields)).toEqual(expect.arrayContaining(names));
    expect(await faultsOf([plainCase(target, sample)])).toEqual([]);
  });

  test('refuses every bad value and every bad credential, and changes nothing', async () => {
    const sample = await sampleOf(target);
    const values = fieldValues(target, sample).map((value) => caseOf(target, sample, value));
    const cases = [...values, ...requestCases(target, sample), ...credentialCases(target, sample, others)];
    const before = await everything();
    const refused = cases.filter(({ expected }) => expected !== 'accepted');
    expect(await faultsOf(refused, sample.alone ? 1 : undefined)).toEqual([]);
    expect(await everything()).toEqual(before);
  });

  test('takes every value up to its limit, and does without what is optional', async () => {
    const values = fieldValues(target, await sampleOf(target)).filter(({ expected }) => expected === 'accepted');
    // A request that succeeds may be the last of its kind, so each has a sample of its own.
    const faults = await inParallel(values, async (value) => faultOf(caseOf(target, await sampleOf(target), value)));
    expect(faults.filter(Boolean)).toEqual([]);
  });
});

const everything = () =>
  Promise.all(services.map(async ({ name }) => ({ [name]: await snapshot(world.database(name)) })));

async function faultsOf(cases: readonly Case[], workers?: number): Promise<string[]> {
  const faults = await inParallel(cases, faultOf, workers);
  return faults.filter((fault) => fault !== undefined);
}

/** The fault of the answer; undefined when it has none. */
async function faultOf({ label, request, sending, expected }: Case): Promise<string | undefined> {
  const began = performance.now();
  const answer = await world.send(request, sending);
  const seconds = (performance.now() - began) / 1000;
  const { status, body } = answer;
  const ok =
    expected === 'accepted' ? status >= 200 && status < 300 && answer.headers.has('x-request-id') : isProblem(answer);
  const rightCode = typeof expected === 'string' || expected.includes(body?.code);
  if (ok && rightCode && seconds < 5) return undefined;
  return `${label}: ${status} ${body?.code} (${body?.detail}) after ${seconds.toFixed(1)} s, expected ${expected}`;
}

function isProblem({ status, headers, body }: Answer): boolean {
  return (
    headers.get('content-type') === 'application/problem+json' &&
    isErrorCode(body.code) &&
    catalogue[body.code as keyof typeof catalogue].http === status &&
    body.status === status &&
    status < 500 &&
    body.request_id !== '' &&
    body.request_id === headers.get('x-request-id')
  );
}

async function inParallel<In, Out>(
  items: readonly In[],
  run: (item: In) => Promise<Out>,
  workers = 16,
): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await run(items[at] as In);
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return results;
}
