import { createLogger, loadConfig } from '@acsp/service';
import { memoryStore } from '@acsp/store';
import { configSchema } from '../src/config.js';
import { start } from '../src/server.js';

const log = createLogger({ name: 'gateway', level: 'silent' });

test.each(['192.0.2.1', '2001:db8::1', 'no-such-host.invalid'])(
  'HOST=%s, which is none of this machine, is refused by name, with what to do',
  async (HOST) => {
    const env = { HOST, PORT: '0', PRINCIPAL_SECRET: 'x'.repeat(32), IDENTITY_GRPC: '127.0.0.1:1' };
    await expect(start(loadConfig(configSchema, env), log, { store: memoryStore() })).rejects.toThrow(
      /^Wrong configuration: HOST is wrong \(this machine has no such address: .* 0\.0\.0\.0 for all\)\.$/,
    );
  },
);
