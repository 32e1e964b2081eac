import { pathParameters, routeTable } from './route-table.js';

const table = routeTable([
  { method: 'GET', path: '/tasks', name: 'list' },
  { method: 'POST', path: '/tasks', name: 'create' },
  { method: 'POST', path: '/tasks', name: 'create too' },
  { method: 'GET', path: '/tasks/{id}', name: 'get' },
  { method: 'GET', path: '/tasks/mine', name: 'mine' },
]);
const names = (method: string, path: string) => {
  const match = table(method, path);
  return 'rows' in match ? match.rows.map(({ name }) => name) : match.allow;
};

test('finds the rows of a method and path, in table order', () => {
  expect(names('GET', '/tasks')).toEqual(['list']);
  expect(names('POST', '/tasks')).toEqual(['create', 'create too']);
});

test('prefers a fixed path to a parameter', () => {
  expect(names('GET', '/tasks/mine')).toEqual(['mine']);
  expect(names('GET', '/tasks/other')).toEqual(['get']);
});

test('decodes parameters and leaves malformed escapes as they are', () => {
  expect(pathParameters('/tasks/{id}', '/tasks/a%20b')).toEqual({ id: 'a b' });
  expect(pathParameters('/tasks/{id}', '/tasks/a%2Fb')).toEqual({ id: 'a/b' });
  expect(pathParameters('/tasks/{id}', '/tasks/%E0%A4%A')).toEqual({ id: '%E0%A4%A' });
  expect(pathParameters('/{a}/x/{b}', '/1/x/2')).toEqual({ a: '1', b: '2' });
  expect(pathParameters('/tasks', '/tasks')).toEqual({});
});

test('serves HEAD like GET', () => {
  expect(names('HEAD', '/tasks')).toEqual(['list']);
});

test('lists the methods of a path that lacks the one asked for, and none for an unknown path', () => {
  expect(table('DELETE', '/tasks')).toEqual({ allow: ['GET', 'POST'] });
  expect(table('GET', '/tasks/')).toEqual({ allow: [] });
  expect(table('GET', '/tasks/a/b')).toEqual({ allow: [] });
});
