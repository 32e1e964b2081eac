import { defineConfig } from 'prisma/config';

// Only the command line reads this, to write and try migrations; the service applies them by itself at start.
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? 'postgresql://localhost/tasks' },
});
