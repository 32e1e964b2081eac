import { createStack, run } from '@acsp/service';
import { configSchema } from './config.js';
import { createContext } from './context.js';
import { start } from './server.js';

run({
  name: 'identity',
  config: configSchema,
  async start({ config, log, health }) {
    const stack = createStack({ log });
    stack.use(await start(stack.use(createContext(config, log)), health));
    return stack;
  },
});
