import { AppError } from '@acsp/errors';
import { collectLog } from '@acsp/testkit';
import { type Answering, refusal } from './serving.js';

function recording(migrated = true) {
  const { log, lines } = collectLog();
  const serving = { log, isMigrated: () => migrated };
  const answering: Answering = {
    ...{ door: 'public', startedAt: 0 },
    caller: { name: 'Ann', via: 'login_key', requestId: 'r-1' },
  };
  return { lines, refuse: (thrown: unknown) => refusal(serving, answering, thrown) };
}

const away = () => Object.assign(new Error('away'), { code: 'ECONNREFUSED' });

test('a fault of ours is logged with its cause and request, each time', () => {
  const { lines, refuse } = recording();
  const fault = new TypeError('x is not a function');
  expect([refuse(fault).code, refuse(fault).code]).toEqual(['INTERNAL_ERROR', 'INTERNAL_ERROR']);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({ err: fault, code: 'INTERNAL_ERROR', request_id: 'r-1', message: 'a call failed' });
});

test('an outage is one line, not one a call', () => {
  const { lines, refuse } = recording();
  for (let call = 0; call < 5; call++) expect(refuse(away()).code).toBe('SERVICE_UNAVAILABLE');
  expect(lines).toHaveLength(1);
  expect(recording().refuse(away()).code).toBe('SERVICE_UNAVAILABLE');
});

test('a refusal is not logged', () => {
  const { lines, refuse } = recording();
  expect(refuse(new AppError('GROUP_FULL', { cause: new Error('why') })).code).toBe('GROUP_FULL');
  expect(refuse(new AppError('SERVICE_UNAVAILABLE')).code).toBe('SERVICE_UNAVAILABLE');
  expect(lines).toEqual([]);
});

test('before the tables are there a fault is an outage', () => {
  const { refuse } = recording(false);
  expect(refuse(new Error('relation "note" does not exist')).code).toBe('SERVICE_UNAVAILABLE');
  expect(refuse(new AppError('GROUP_FULL')).code).toBe('GROUP_FULL');
});
