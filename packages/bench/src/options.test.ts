import { readOptions } from './options.js';

const read = (...args: string[]) => readOptions(args, ['standalone', 'grpc'], ['list', 'create']);
const wanted = (...args: string[]) => ['standalone', 'grpc', 'list', 'create'].filter(read(...args).wants);

test('everything is wanted where nothing is named', () => {
  expect(wanted()).toEqual(['standalone', 'grpc', 'list', 'create']);
});

test('a named form leaves the other forms out, and a named scenario the other scenarios', () => {
  expect(wanted('--only', 'standalone')).toEqual(['standalone', 'list', 'create']);
  expect(wanted('--only', 'list,grpc')).toEqual(['grpc', 'list']);
});

test('the separator that pnpm hands on is no option', () => {
  expect(read('--', '--quick').pace.rounds).toBe(1);
});

test('refuses a name that nobody has', () => {
  expect(() => read('--only', 'lists')).toThrow('--only lists: one of standalone, grpc, list, create');
});
