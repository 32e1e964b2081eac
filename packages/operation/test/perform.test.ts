import { Credential } from '@acsp/contracts/edge/v1/edge';
import { z } from 'zod';
import {
  type Agent,
  aid,
  byAgent,
  byAnyone,
  type Call,
  integer,
  type Operation,
  oneOf,
  type Principal,
  perform,
  type Route,
  surfaceOf,
  text,
} from '../src/index.js';
import { sampleService } from './sample.js';

const ann: Agent = { aid: 'a'.repeat(50), name: 'Ann', via: 'login_key', requestId: 'r' };
const other = 'b'.repeat(50);
const nobody: Principal = { name: '', via: 'anonymous', requestId: 'r' };
const service: Principal = { name: 'tasks', via: 'service', requestId: 'r' };

const [route] = surfaceOf([
  sampleService({
    Do: { http: { case: 'post', value: 'do' }, by: [Credential.LOGIN_KEY], signature: { aid: ['from', 'aid'] } },
  }),
]) as [Route];

const input = z.object({
  aid: aid().optional(),
  from: aid().optional(),
  title: text({ code: 'INVALID_FIELD', missing: 'MISSING_TITLE', max: 5 }),
  size: integer(1, 3).optional(),
  colour: oneOf(['red', 'blue'], 'INVALID_ACTION').optional(),
});

type Input = z.output<typeof input>;

const own = byAgent(input, async (_context: object, given: Input, caller) => ({ given, by: caller.aid }));
const open = byAnyone(input, async (_context: object, given: Input) => ({ given }));

async function run(
  operation: Operation<never, Promise<unknown>>,
  fields: object,
  options: { caller?: Principal; route?: Route | undefined } = {},
) {
  const { caller = ann } = options;
  const call: Call = {
    caller,
    signal: new AbortController().signal,
    deadline: 0,
    once: undefined,
    reply: { headers: {} },
  };
  return perform(operation, 'route' in options ? options.route : route, { context: {}, fields: { ...fields }, call });
}

const refused = (code: string, ...fields: object[]) =>
  expect.objectContaining({ code, ...(fields.length > 0 && { fields }) });

test('a handler gets the fields it asks for, and its caller', async () => {
  expect(await run(own, { title: 'x', other: 1 })).toEqual({ given: { title: 'x' }, by: ann.aid });
});

test('members that are null count as absent', async () => {
  expect(await run(own, { title: 'x', size: null, aid: null })).toEqual({ given: { title: 'x' }, by: ann.aid });
  await expect(run(own, { title: null })).rejects.toEqual(
    refused('MISSING_TITLE', { field: 'title', message: 'required' }),
  );
});

test('the order of checks is caller, fields, own AID', async () => {
  await expect(run(own, { aid: other }, { caller: nobody })).rejects.toEqual(refused('AUTH_REQUIRED'));
  await expect(run(own, { aid: other })).rejects.toEqual(refused('MISSING_TITLE'));
  await expect(run(own, { aid: other, title: 'x' })).rejects.toEqual(refused('AID_MISMATCH'));
});

test('an operation without a route is for services alone, before its fields are looked at', async () => {
  await expect(run(open, {}, { route: undefined })).rejects.toEqual(refused('PERMISSION_DENIED'));
  expect(await run(open, { title: 'x' }, { route: undefined, caller: service })).toEqual({ given: { title: 'x' } });
});

test.each([{ aid: other }, { from: other }, { from: ann.aid, aid: other }, { from: other, aid: ann.aid }])(
  'whichever field names the signer, it must be the caller: %j',
  async (fields) => {
    await expect(run(own, { title: 'x', ...fields })).rejects.toEqual(refused('AID_MISMATCH'));
  },
);

test('an AID that is only named is no concern of an operation for anyone', async () => {
  expect(await run(open, { title: 'x', aid: other }, { caller: nobody })).toEqual({
    given: { title: 'x', aid: other },
  });
});

test('the code is that of the first refused field, and every one is listed in words', async () => {
  await expect(run(own, { aid: 'x', title: 7, size: 4, colour: 'green' })).rejects.toEqual(
    refused(
      'INVALID_AID',
      { field: 'aid', message: 'invalid' },
      { field: 'title', message: 'must be a string' },
      { field: 'size', message: 'at most 3' },
      { field: 'colour', message: 'one of red, blue' },
    ),
  );
  await expect(run(own, { title: 'longer than five' })).rejects.toEqual(
    refused('INVALID_FIELD', { field: 'title', message: 'at most 5 characters' }),
  );
  await expect(run(own, { title: 'x', size: 0.5 })).rejects.toEqual(
    refused('INVALID_FIELD', { field: 'size', message: 'must be an integer' }),
  );
});
