import { z } from 'zod';
import { ConfigError, loadConfig } from './load-config.js';

const schema = z.object({
  DATABASE_URL: z.url(),
  PORT: z.coerce.number().int().max(65_535).default(8080),
  NATS_URL: z.string().optional(),
});

test('defaults stand in for variables that are unset or empty', () => {
  expect(loadConfig(schema, { DATABASE_URL: 'postgres://db/x', PORT: '', NATS_URL: '', OTHER: 'x' })).toEqual({
    DATABASE_URL: 'postgres://db/x',
    PORT: 8080,
  });
});

test('one sentence names every wrong variable and quotes no value', () => {
  expect(() => loadConfig(schema, { PORT: '99999', DATABASE_URL: '' })).toThrow(
    new ConfigError(['DATABASE_URL is not set', 'PORT is wrong (too big: expected number to be <=65535)']),
  );
  expect(() => loadConfig(schema, { DATABASE_URL: 's3cret' })).toThrow(
    'Wrong configuration: DATABASE_URL is wrong (invalid URL).',
  );
});
