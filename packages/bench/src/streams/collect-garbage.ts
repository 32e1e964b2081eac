import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Imported before a server starts (NODE_OPTIONS): at SIGUSR2 it collects garbage, so that its memory can be read without, and says what it holds.

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  // The second run collects what finalizers let go.
  collect();
  collect();
  process.send?.(process.memoryUsage());
});
