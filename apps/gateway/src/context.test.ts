import { createLogger, loadConfig } from '@acsp/service';
import { memoryStore } from '@acsp/store';
import { configSchema } from './config.js';
import { start } from './server.js';

const log = createLogger({ name: 'test', level: 'silent' });
const config = loadConfig(configSchema, {
  HOST: '127.0.0.1',
  PORT: '0',
  PRINCIPAL_SECRET: 'x'.repeat(32),
  IDENTITY_GRPC: '127.0.0.1:9',
});

test('needs a place for spent signatures, and says which variables name one', async () => {
  await expect(start(config, log)).rejects.toThrow(
    'Wrong configuration: REDIS_URL is not set, and neither is DATABASE_URL in its place.',
  );
});

test('needs neither REDIS_URL nor DATABASE_URL where a store is given', async () => {
  await using store = memoryStore();
  await using gateway = await start(config, log, { store });
  expect(gateway.url).toMatch(/^http:/);
});
