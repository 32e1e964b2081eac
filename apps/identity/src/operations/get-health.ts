import { readFileSync } from 'node:fs';
import { GetHealthRequestSchema } from '@acsp/contracts/identity/v1/identity';
import { byAnyone, fieldsOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { formatUptime } from '../health/format-uptime.js';

/** The health of the service, and the number of its agents. */
export const getHealth = byAnyone(fieldsOf(GetHealthRequestSchema)({}), async ({ countActive }: Context) => {
  const uptime = formatUptime(process.uptime());
  return { status: 'ok', protocol: 'acsp', version, agents_registered: await countActive(), uptime };
});

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
