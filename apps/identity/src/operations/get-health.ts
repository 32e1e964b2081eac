import { readFileSync } from 'node:fs';
import { GetHealthRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { byAnyone, fieldsOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { formatUptime } from '../health/format-uptime.js';

/** That the service answers, and how many agents it knows. */
export const getHealth = byAnyone(fieldsOf(GetHealthRequestSchema)({}), async ({ countActive }: Context) => {
  const uptime = formatUptime(process.uptime());
  return { status: 'ok', protocol: 'acsp', version, agents_registered: await countActive(), uptime };
});

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
