import { requireNode } from './require-node.mjs';

requireNode();

import('./run-tests.mjs')
  .then(({ runTests }) => runTests(process.argv.slice(2)))
  .then(
    (exitCode) => process.exit(exitCode),
    (error) => {
      process.stderr.write(`${error.message}\n`);
      process.stdout.write('0 passed, 1 failed\n');
      process.exit(1);
    },
  );
