import { type AddressInfo, connect, createServer } from 'node:net';
import { startPostgres } from '../src/embedded-postgres.js';
import { ensureDatabase, withDatabase } from '../src/ensure-database.js';
import { useDataDirectory } from './data-directory.js';

const directory = useDataDirectory();

test('a server that goes away at the first statement is an error of the call, and not the end of the process', async () => {
  await using postgres = await startPostgres({ dataDir: directory.path, fsync: false });
  const statement = /^[PQ]/;
  const server = createServer((client) => {
    const upstream = connect(postgres.port, '127.0.0.1');
    for (const socket of [client, upstream]) socket.on('error', () => {});
    upstream.pipe(client);
    client.on('data', (chunk) => {
      if (!statement.test(chunk.toString('latin1'))) return upstream.write(chunk);
      client.destroy();
      return upstream.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(postgres.url('postgres'));
  url.port = `${(server.address() as AddressInfo).port}`;
  await expect(ensureDatabase(url.href, 'any')).rejects.toThrow('Connection terminated');
  server.close();
});

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
