import { join } from 'node:path';

/**
 * For Prisma's command line, which services do not need: they apply their migrations at start. In the folder of a service, with its DATABASE_URL:
 * `prisma migrate status --config ../../infra/prisma.config.mjs`.
 */
export default {
  schema: join(process.cwd(), 'prisma/schema.prisma'),
  migrations: { path: join(process.cwd(), 'prisma/migrations') },
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://localhost/unset' },
};
