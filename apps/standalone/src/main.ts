import { run } from '@acsp/service';
import { configSchema } from './config.js';
import { startStandalone } from './standalone.js';

run({
  name: 'standalone',
  config: configSchema,
  async start(runtime) {
    const standalone = await startStandalone(runtime);
    process.stdout.write(`acsp ready on ${standalone.url}\n`);
    return standalone;
  },
});
