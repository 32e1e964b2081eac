import { run } from '@acsp/service';
import { configSchema } from './config.js';
import { start } from './server.js';

run({ name: 'gateway', config: configSchema, start: ({ config, log }) => start(config, log) });
