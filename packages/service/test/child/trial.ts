import { run } from '../../src/index.js';
import { trial } from '../trial/service.js';

// The service as its main runs it, which says where it listens.
run({
  ...trial,
  start: async (runtime) => {
    const running = await trial.start(runtime);
    process.stderr.write(`listens on ${running.url}\n`);
    return running;
  },
});
