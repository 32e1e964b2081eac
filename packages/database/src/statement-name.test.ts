import { createStatementNames } from './statement-name.js';

const nameOf = (sql: string) => createStatementNames()({ sql });

test.each([
  'SELECT id FROM task',
  'SELECT count(*) FROM task',
  'INSERT INTO task (id) VALUES ($1) RETURNING id',
  'WITH input AS (SELECT id FROM json_to_recordset($1::json) AS input (id uuid)), ready AS (SELECT input.* FROM input) SELECT id FROM ready',
])('PostgreSQL plans it once: %s', (sql) => {
  expect(nameOf(sql)).toMatch(/^[\w-]{22}$/);
});

test.each([
  'SELECT * FROM task',
  'select task.* from task',
  'UPDATE task SET version = 2 RETURNING *',
  'WITH found AS (SELECT task.* FROM task) SELECT id FROM found',
  'WITH found AS (SELECT * FROM task) SELECT found.* FROM found',
])('a migration must not break it, so it stays unprepared: %s', (sql) => {
  expect(nameOf(sql)).toBe('');
});

test('a text has one name, and after 500 texts the rest have none', () => {
  const names = createStatementNames();
  const all = Array.from({ length: 501 }, (_, index) => names({ sql: `SELECT ${index}` }));
  expect(new Set(all).size).toBe(501);
  expect(all[500]).toBe('');
  expect(names({ sql: 'SELECT 7' })).toBe(all[7]);
});
