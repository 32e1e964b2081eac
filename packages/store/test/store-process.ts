import { quietLog as log } from '@acsp/testkit';
import { createRateLimiter, createStore } from '../src/index.js';

// A process on PostgreSQL that is killed at the worst moment. Arguments: database URL, job, JSON of the job's input.
const [databaseUrl = '', job = '', input = ''] = process.argv.slice(2);

const jobs: Record<string, () => Promise<void>> = {
  /** Adds a key and is dead in the moment in which that is confirmed. */
  async add() {
    const store = createStore({ databaseUrl, prefix: '', onOutage: 'fail', log });
    if (await store.add(JSON.parse(input), 'first', 60)) process.kill(process.pid, 'SIGKILL');
  },
  /** Adds keys all at once and says which ones it got. */
  async 'add all'() {
    await using store = createStore({ databaseUrl, prefix: '', onOutage: 'fail', log });
    await store.ready();
    const keys: string[] = JSON.parse(input);
    const added = await Promise.all(keys.map((key) => store.add(key, String(process.pid), 60)));
    process.stdout.write(JSON.stringify(keys.filter((_, index) => added[index])));
  },
  /** Uses up a limit and goes on until it is killed. */
  async consume() {
    const limiter = createRateLimiter({ databaseUrl, log });
    const { bucket, key } = JSON.parse(input);
    for (let call = 0; call < bucket.limit; call++) await limiter.consume(bucket, key);
  },
};
await jobs[job]?.();
