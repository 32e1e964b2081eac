import { Credential, Signer } from '@acsp/contracts/edge/v1/edge';
import { z } from 'zod';
import {
  byAgent,
  byAnyone,
  checkOperations,
  chooseForm,
  movedPathsOf,
  type Route,
  routeOf,
  routeTable,
  surfaceOf,
} from '../src/index.js';
import { isForAgents } from '../src/surface.js';
import { sampleService } from './sample.js';

const { LOGIN_KEY, LOGIN_KEY_IN_BODY, LOGIN_KEY_UNCHECKED, SIGNATURE, AID, EVENT_TOKEN, INTERNAL_TOKEN, NONE } =
  Credential;

const get = (value: string) => ({ case: 'get' as const, value });
const post = (value: string) => ({ case: 'post' as const, value });

test('an rpc has the defaults of the interface', () => {
  const service = sampleService({ GetThing: { http: get('things/{id}'), by: [LOGIN_KEY] }, Internal: undefined });
  const [desc] = service.methods;
  expect(surfaceOf([service])).toEqual([
    {
      ...{
        rpc: 'acsp.sample.v1.SampleService/GetThing',
        service: 'sample',
        method: 'GET',
        path: '/api/acsp/things/{id}',
      },
      ...{
        by: [LOGIN_KEY],
        limit: undefined,
        given: [],
        status: 200,
        maxBodyBytes: 65_536,
        secret: false,
        page: false,
      },
      ...{ body: undefined, answer: undefined, desc },
      signature: {
        ...{ signer: 'agent', aid: ['aid'], field: 'signature', timeField: 'timestamp', timeOptional: false },
        ...{ driftSeconds: 300, driftCode: 'TIMESTAMP_OUT_OF_RANGE', missingCode: 'AUTH_REQUIRED', besides: false },
      },
    },
  ]);
});

test('an rpc says what differs from them', () => {
  const signature = {
    ...{ signer: Signer.HOLDER, aid: ['from', 'aid'], field: 'sig', timeField: 'ts', timeOptional: true },
    ...{ driftSeconds: 60, driftCode: 'INVALID_TIMESTAMP', missingCode: 'INVALID_SIGNATURE', besides: true },
  };
  const option = {
    ...{ by: [SIGNATURE], limit: 'public', given: ['q'], status: 201, maxBodyBytes: 2_097_152, signature },
    ...{ secret: true, page: true, body: 'body', answer: 'parts' },
  };
  const service = sampleService({ MakeThing: { http: post('things'), ...option } });
  expect(surfaceOf([service])[0]).toMatchObject({
    method: 'POST',
    ...option,
    signature: { ...signature, signer: 'holder' },
  });
  const registration = sampleService({
    Join: { http: post('join'), by: [SIGNATURE], signature: { signer: Signer.REGISTRATION } },
  });
  expect(surfaceOf([registration])[0]?.signature.signer).toBe('registration');
});

test('an alias is a path of the same rpc', () => {
  const http = get('things');
  const service = sampleService({ ListThings: { http, by: [NONE], aliases: ['things-list', 'things/list'] } });
  const routes = surfaceOf([service]);
  expect(routes.map(({ path }) => path)).toEqual([
    '/api/acsp/things',
    '/api/acsp/things-list',
    '/api/acsp/things/list',
  ]);
  expect(new Set(routes.map(({ rpc }) => rpc)).size).toBe(1);
  const elsewhere = sampleService({ GetThing: { http: get('things/{id}'), by: [NONE], aliases: ['thing/by/{id}'] } });
  expect(() => surfaceOf([elsewhere])).toThrow('has its parameters elsewhere in /api/acsp/thing/by/{id}');
});

test('a path that is no more has what replaces it, for each of its methods', () => {
  const service = sampleService({}, [{ path: 'old', methods: ['GET', 'POST'], to: 'new' }]);
  expect(movedPathsOf([service, sampleService({})])).toEqual([
    { method: 'GET', path: '/api/acsp/old', to: '/api/acsp/new' },
    { method: 'POST', path: '/api/acsp/old', to: '/api/acsp/new' },
  ]);
});

test('an rpc without an option is for services only, and one whose option says too little is a fault', () => {
  const service = sampleService({ Internal: undefined, Nowhere: { by: [NONE] }, Unguarded: { http: get('x') } });
  const [internal, nowhere, unguarded] = service.methods.map((desc) => () => routeOf(desc));
  expect(internal?.()).toBeUndefined();
  expect(nowhere).toThrow('has no method and path');
  expect(unguarded).toThrow('names no credential');
});

describe('of forms that share a path', () => {
  const forms = (...givens: string[][]) =>
    surfaceOf([
      sampleService(
        Object.fromEntries(givens.map((given, index) => [`Form${index}`, { http: post('things'), by: [NONE], given }])),
      ),
    ]);
  const chosen = (routes: Route[], fields: object) => routes.indexOf(chooseForm(routes, { ...fields }));

  test('the first serves of whose fields one is given; null is not given', () => {
    const routes = forms(['a', 'b'], ['c'], []);
    expect(chosen(routes, { b: 0 })).toBe(0);
    expect(chosen(routes, { c: '', a: null })).toBe(1);
    expect(chosen(routes, { a: 1, c: 1 })).toBe(0);
  });

  test('one without a rule serves where none fits, and else the first', () => {
    expect(chosen(forms(['a'], [], ['c']), { d: 1 })).toBe(1);
    expect(chosen(forms(['a'], ['c']), {})).toBe(0);
  });

  test('a table has them all', () => {
    const match = routeTable(forms(['a'], []))('POST', '/api/acsp/things');
    expect('rows' in match && match.rows).toHaveLength(2);
  });
});

test.each([
  [[LOGIN_KEY], true],
  [[SIGNATURE, LOGIN_KEY_IN_BODY], true],
  [[LOGIN_KEY, NONE], false],
  [[LOGIN_KEY_UNCHECKED], false],
  [[AID], false],
  [[EVENT_TOKEN], false],
  [[INTERNAL_TOKEN], false],
])('credentials %j prove an agent: %j', (by, proven) => {
  expect(isForAgents({ by })).toBe(proven);
});

test('a table of operations agrees with its contract on who may call', () => {
  const service = sampleService({
    Own: { http: get('own'), by: [LOGIN_KEY] },
    Open: { http: get('open'), by: [NONE] },
    Inner: undefined,
  });
  const [agents, anyone] = [byAgent(z.object({}), async () => ({})), byAnyone(z.object({}), async () => ({}))];
  const table = { own: agents, open: anyone, inner: anyone };
  expect(() => checkOperations(service, table)).not.toThrow();
  expect(() => checkOperations(service, { ...table, own: anyone })).toThrow(
    'SampleService.Own is for agents by its contract',
  );
  expect(() => checkOperations(service, { ...table, open: agents })).toThrow('Open is for anyone by its contract');
  expect(() => checkOperations(service, { ...table, inner: agents })).toThrow('Inner is for anyone by its contract');
  expect(() => checkOperations(service, { own: agents, open: anyone })).toThrow('Inner has no operation');
});
