import { Prisma } from '../generated/prisma/client.js';

// Columns by name, never a star: a prepared statement with a star fails for good once a migration adds a column.

const list = (names: object, table: string) =>
  Prisma.raw(
    Object.keys(names)
      .map((name) => `${table}.${name}`)
      .join(', '),
  );

/** Every column of `task`, under the name that the statement gives the table. */
export const taskColumns = (table: 'task' | 'before' | 'changed' | 'subtask') =>
  list(Prisma.TaskScalarFieldEnum, table);

export const claimColumns = list(Prisma.ClaimScalarFieldEnum, 'claim');

export const messageColumns = list(Prisma.MessageScalarFieldEnum, 'message');
