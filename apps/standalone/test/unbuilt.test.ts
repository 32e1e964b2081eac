import type { Route } from '@acsp/gateway/route';
import { routes } from '@acsp/gateway/routes';
import { operations as identity } from '@acsp/identity/routes';
import { operations as tasks } from '@acsp/tasks/routes';
import { signedTarget, startWorld, type TestAgent, type World } from './harness.js';

// Operations of the interface that nobody serves yet: they say so, at once, as a problem.

let world: World;
let agent: TestAgent;

beforeAll(async () => {
  world = await startWorld();
  agent = await world.register('Ada');
});
afterAll(() => world[Symbol.asyncDispose]());

const served = new Set(
  Object.values({ ...identity, ...tasks }).flatMap((operation) => ('http' in operation ? operation.http : [])),
);
const isServed = ({ http, aid, when }: Route) =>
  served.has(http) && !(when?.({ attestation_id: 'x' }) && aid.includes('attester_aid'));
const unbuilt = routes.filter((route) => !isServed(route));

test('there are still some', () => expect(unbuilt.length).toBeGreaterThan(20));

test.each(unbuilt)('$http is unavailable, with a valid credential', async (route) => {
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

/** The operation with whatever tells its form, by each credential that it takes. */
function ask({ http, by, aid, rule, when }: Route) {
  const [method, path] = http
    .replace('/api/acsp', '')
    .replace(/\{\w+\}/, 'x')
    .split(' ');
  const marks = ['attestation_id', 'subject_aid', 'recipient_aid', 'to_aids'].filter((name) => when?.({ [name]: 'x' }));
  const fields = {
    ...Object.fromEntries(aid.map((name) => [name, agent.aid])),
    ...Object.fromEntries(marks.map((name) => [name, 'x'])),
  };
  const bearer = by.includes('internal') ? world.internalToken : agent.loginKey;
  const headers = { authorization: `Bearer ${bearer}` };
  if (method === 'POST')
    return by.includes('signature')
      ? world.callSigned(agent, `POST ${path}`, fields)
      : world.send(`POST ${path}`, { headers, body: JSON.stringify(fields) });
  const target = `${path}?aid=${agent.aid}&${rule.timeField}=${new Date().toISOString()}&token=x`;
  return world.send(`GET ${by.includes('signature') ? signedTarget(agent, target, rule.signatureField) : target}`, {
    headers,
  });
}
