import { describeFailure } from './start-failure.js';

test('only the first line of a message is said, and it ends like a sentence', () => {
  const error = Object.assign(new Error('password authentication failed\nfor user x'), { code: '28P01' });
  expect(describeFailure(error)).toEqual({ sentence: 'password authentication failed.', known: true });
});

test('an error without a message is said by its code', () => {
  const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
  expect(describeFailure(error)).toEqual({ sentence: 'ECONNREFUSED.', known: true });
});

test('a data directory that cannot be used needs no stack', () => {
  const error = Object.assign(new Error('The data directory x is in use by process 5.'), { name: 'LocalServerError' });
  expect(describeFailure(error)).toEqual({ sentence: 'The data directory x is in use by process 5.', known: true });
});

test('a wrong call of Node is not a known reason', () => {
  const error = Object.assign(new TypeError('The "path" argument must be of type string'), {
    code: 'ERR_INVALID_ARG_TYPE',
  });
  expect(describeFailure(error).known).toBe(false);
  expect(describeFailure('odd')).toEqual({ sentence: 'odd.', known: false });
});
