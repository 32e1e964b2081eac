import { requireNode } from './require-node.mjs';

requireNode();

// A disk that is full behind the output, or a reader of it that is gone, must not end the start.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
const say = (line) => process.stdout.write(`${line}\n`);

// The standalone runs in this process: signals reach it without being forwarded, its exit code is ours, and 40 MB of memory for a
// parent that only waits are saved.
import('./prepare.mjs')
  .then(({ prepare, root }) => {
    process.chdir(root);
    return prepare(say);
  })
  .then(() => {
    say('starting');
    // A person at a terminal wants to see what is wrong, not every request.
    process.env.LOG_LEVEL ||= 'warn';
    return import('../../apps/standalone/dist/main.js');
  })
  .catch((error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
