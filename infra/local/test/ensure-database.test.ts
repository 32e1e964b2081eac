import { withDatabase } from '../src/ensure-database.js';

test.each([
  ['postgresql://acsp:p%40ss@db:5432/postgres', 'postgresql://acsp:p%40ss@db:5432/tasks'],
  ['postgresql://db', 'postgresql://db/tasks'],
  ['postgresql://db/', 'postgresql://db/tasks'],
  ['postgresql://db?sslmode=require', 'postgresql://db/tasks?sslmode=require'],
  ['postgresql://acsp:secret@/postgres?host=/run/pg', 'postgresql://acsp:secret@/tasks?host=/run/pg'],
  ['postgresql:///postgres?host=/run/pg', 'postgresql:///tasks?host=/run/pg'],
  ['postgresql://[::1]:5432/postgres', 'postgresql://[::1]:5432/tasks'],
  ['socket:/run/pg?db=postgres&encoding=utf8', 'socket:/run/pg?db=tasks&encoding=utf8'],
  ['socket:/run/pg', 'socket:/run/pg?db=tasks'],
])('the database tasks on the server of %s is that of %s', (server, database) => {
  expect(withDatabase(server, 'tasks')).toBe(database);
});
