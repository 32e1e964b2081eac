import { routeTable } from './route-table.js';

const table = routeTable([
  { http: 'GET /tasks', name: 'list' },
  { http: 'POST /tasks', name: 'create' },
  { http: 'POST /tasks', name: 'create too' },
  { http: 'GET /tasks/{id}', name: 'get' },
  { http: 'GET /tasks/mine', name: 'mine' },
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
});

test('decodes parameters and leaves malformed escapes as they are', () => {
  expect(table('GET', '/tasks/a%20b')).toMatchObject({ parameters: { id: 'a b' } });
  expect(table('GET', '/tasks/%E0%A4%A')).toMatchObject({ parameters: { id: '%E0%A4%A' } });
});

test('serves HEAD like GET', () => {
  expect(names('HEAD', '/tasks')).toEqual(['list']);
});

test('lists the methods of a path that lacks the one asked for, and none for an unknown path', () => {
  expect(table('DELETE', '/tasks')).toEqual({ allow: ['GET', 'POST'] });
  expect(table('GET', '/tasks/')).toEqual({ allow: [] });
  expect(table('GET', '/tasks/a/b')).toEqual({ allow: [] });
});
