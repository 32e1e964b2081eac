import { readFileSync } from 'node:fs';
import type { GetHealthRequestSchema, GetHealthResponseSchema } from '@acsp/contracts/identity/v1/identity';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { z } from 'zod';
import type { Context } from '../context.js';
import { formatUptime } from '../health/format-uptime.js';

/** That the service answers, and how many agents it knows. */
export async function getHealth(context: Context) {
  return {
    status: 'ok',
    protocol: 'acsp',
    version,
    agentsRegistered: await countActive(context),
    uptime: formatUptime(process.uptime()),
  } satisfies MessageInitShape<typeof GetHealthResponseSchema>;
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Anybody may ask without a limit, so the table is counted once in a few seconds at most. */
async function countActive({ database, counts }: Context): Promise<number> {
  let count = counts.get('active');
  if (count === undefined) {
    count = database.prisma.agent.count({ where: { status: 'active' } });
    counts.set('active', count);
    count.catch(() => counts.delete('active'));
  }
  return count;
}

export const getHealthInput = z.object({}) satisfies z.ZodType<MessageInitShape<typeof GetHealthRequestSchema>>;
