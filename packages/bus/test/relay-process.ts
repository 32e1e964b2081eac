import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { quietLog as log } from '@acsp/testkit';
import { startRelay } from '../src/index.js';
import { connectTo } from './brokers.js';
import { openOutbox } from './outbox.js';

// A replica that publishes until it is killed, or kills itself at a given point. Arguments: outbox URL, bus address, point.
const [outboxUrl = '', address = '{}', point] = process.argv.slice(2);
const die = () => process.kill(process.pid, 'SIGKILL');

const database = openOutbox(outboxUrl);
const bus = connectTo(JSON.parse(address));
startRelay({
  database,
  bus: {
    ...bus,
    async publish(service, events) {
      if (point === 'before publishing') die();
      await bus.publish(service, events);
      if (point === 'after publishing') die();
      process.stdout.write(`${events.length}\n`);
    },
  },
  service: 'tasks',
  payloads: { task: TaskEventSchema },
  log,
});
