import { run } from '@acsp/service';
import { service } from '../../src/service.js';

// The service as its main runs it, which says where it listens once its tables are there.
run({
  ...service,
  start: async (runtime) => {
    const running = await service.start(runtime);
    void running.migrated.then(() => process.stderr.write(`listens on ${running.url}\n`));
    return running;
  },
});
