import { loadConfig } from '@acsp/service';
import { configSchema } from './config.js';

const required = { PRINCIPAL_SECRET: 'x'.repeat(32), IDENTITY_GRPC: 'identity:5101' };
const load = (env: Record<string, string>) => loadConfig(configSchema, { ...required, ...env });

test('needs little', () => {
  expect(load({})).toMatchObject({
    PORT: 8080,
    RATE_LIMIT_SCALE: 1,
    RATE_LIMITS: {},
    TRUST_PROXY: { header: undefined },
    UPSTREAM_TIMEOUT_MS: 30_000,
  });
});

test.each(['http://tasks:4103', 'http://tasks/', 'http://[::1]:4103'])('takes %s for a door', (TASKS_URL) => {
  expect(load({ TASKS_URL })).toMatchObject({ TASKS_URL });
});

test('reads limits from JSON', () => {
  expect(load({ RATE_LIMITS: '{"tasks":60,"agent-init":1}' }).RATE_LIMITS).toEqual({ tasks: 60, 'agent-init': 1 });
});

test.each([
  ['RATE_LIMITS', 'tasks=60'],
  ['RATE_LIMITS', '{"task":60}'],
  ['RATE_LIMITS', '{"tasks":0}'],
  ['RATE_LIMIT_SCALE', '0'],
  ['TRUST_PROXY', 'yes please'],
  ['TASKS_URL', 'https://tasks'],
  ['TASKS_URL', 'tasks:4103'],
  ['TASKS_URL', 'http://tasks:4103/prefix'],
  ['TASKS_URL', 'http://tasks:4103?a=1'],
  ['TASKS_URL', 'http://tasks:4103/#x'],
  ['TASKS_URL', 'http://user:password@tasks:4103'],
  ['PRINCIPAL_SECRET', 'short'],
  ['UPSTREAM_TIMEOUT_MS', '60000'],
])('names %s when it is %j', (name, value) => {
  expect(() => load({ [name]: value })).toThrow(new RegExp(`^Wrong configuration: ${name} is wrong`));
});
