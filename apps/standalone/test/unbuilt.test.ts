import { Credential } from '@acsp/contracts/edge/v1/edge';
import { routes } from '@acsp/gateway/surface';
import type { Route } from '@acsp/operation';
import { targets } from './bad-input/targets.js';
import { signedTarget, startWorld, type TestAgent, type World } from './harness.js';

// Operations of the interface that nobody serves yet: they say so, at once, as a problem.

let world: World;
let agent: TestAgent;

beforeAll(async () => {
  world = await startWorld();
  agent = await world.register('Ada');
});
afterAll(() => world[Symbol.asyncDispose]());

const served = new Set(targets.map(({ route }) => route.rpc));
const unbuilt = routes.filter(({ rpc }) => !served.has(rpc));

test('there are still some', () => expect(unbuilt.length).toBeGreaterThan(20));

test.each(unbuilt)('$method $path is unavailable, with a valid credential', async (route) => {
  const began = performance.now();
  const { status, headers, body } = await ask(route);
  expect({ status, code: body.code, requestId: body.request_id }).toEqual({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
    requestId: headers.get('x-request-id'),
  });
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(headers.has('retry-after')).toBe(true);
  expect(performance.now() - began).toBeLessThan(2_000);
});

/** The operation with the fields that tell its form, by the credential that it takes. */
function ask({ method, path, by, given, signature }: Route) {
  const target = path.replace('/api/acsp', '').replace(/\{\w+\}/, 'x');
  const fields = {
    ...Object.fromEntries(given.slice(0, 1).map((name) => [name, 'x'])),
    ...Object.fromEntries(signature.aid.map((name) => [name, agent.aid])),
  };
  const bearer = by.includes(Credential.INTERNAL_TOKEN) ? world.internalToken : agent.loginKey;
  const headers = { authorization: `Bearer ${bearer}` };
  const signed = by.includes(Credential.SIGNATURE);
  if (method === 'POST') {
    return signed
      ? world.callSigned(agent, `POST ${target}`, fields)
      : world.send(`POST ${target}`, { headers, body: JSON.stringify(fields) });
  }
  const query = new URLSearchParams({ ...fields, aid: agent.aid, token: 'x' });
  const full = `${target}?${query}&${signature.timeField}=${new Date().toISOString()}`;
  return world.send(`GET ${signed ? signedTarget(agent, full, signature.field) : full}`, { headers });
}
