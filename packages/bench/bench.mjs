import { prepare } from '../../infra/local/prepare.mjs';

// Everything is built first; then the run itself, in this process.
try {
  await prepare((line) => process.stdout.write(`${line}\n`));
  await import('./dist/main.js');
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
