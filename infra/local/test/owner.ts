import { startPostgres } from '../src/embedded-postgres.js';

// A process that owns a server until it is killed, or until it is told to leave without a word by a line on its standard input.
const [dataDir = ''] = process.argv.slice(2);
const postgres = await startPostgres({ dataDir, fsync: false });
await postgres.ensureDatabase('kept');
process.stdout.write(`${JSON.stringify({ pid: postgres.pid, url: postgres.url('kept') })}\n`);
process.stdin.once('data', () => process.exit(0));
