import { quietLog as log } from '@acsp/testkit';
import { startConsumer } from '../../src/index.js';
import { connectTo } from '../brokers.js';
import { openOutbox } from '../outbox.js';

// A replica whose handler fails twice and then stands still until it is killed. Arguments: database URL, bus address, name, order.
const [databaseUrl = '', address = '{}', name = '', order] = process.argv.slice(2);
startConsumer(
  {
    name,
    subjects: [`acsp.${name}.>`],
    start: 'kept',
    order: order === 'strict' ? 'strict' : 'parallel',
    backoffMs: [20],
    async handle(_event, { attempt }) {
      process.stdout.write(`attempt ${attempt}\n`);
      if (attempt < 3) throw new Error('not yet');
      await new Promise(() => {});
    },
  },
  { database: openOutbox(databaseUrl), bus: connectTo(JSON.parse(address)), log },
);
