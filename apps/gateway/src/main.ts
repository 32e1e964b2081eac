import { createStack, run } from '@acsp/service';
import { configSchema } from './config.js';
import { createContext } from './context.js';
import { start } from './server.js';

run({
  name: 'gateway',
  config: configSchema,
  async start({ config, log }) {
    const stack = createStack({ log });
    stack.use(await start(stack.use(createContext(config, log))));
    return stack;
  },
});
