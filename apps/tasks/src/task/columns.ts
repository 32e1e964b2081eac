import { Prisma, type Task } from '../generated/prisma/client.js';

// Columns by name, never a star: a prepared statement with a star fails for good once a migration adds a column.

/** The members of an object as columns of a table. */
export const columnList = (columns: object, table: string) => list(Object.keys(columns), table);

const list = (names: readonly string[], table: string) =>
  Prisma.raw(names.map((name) => `${table}.${name}`).join(', '));

/** Every column of `task`, under the name that the statement gives the table. */
export const taskColumns = (table: 'task' | 'subtask') => columnList(Prisma.TaskScalarFieldEnum, table);

const ruled = [
  ...(['id', 'status', 'expires_at', 'ttl_minutes', 'creator_aid', 'assigned_aid', 'target_aid'] as const),
  ...(['max_claims', 'claims_count'] as const),
];

/** What the rules look at: all that a statement which changes a task reads of it. */
export const ruledColumns = (table: 'task' | 'before') => list(ruled, table);

export type RuledTask = Pick<Task, (typeof ruled)[number]>;

export const claimColumns = columnList(Prisma.ClaimScalarFieldEnum, 'claim');

export const messageColumns = columnList(Prisma.MessageScalarFieldEnum, 'message');
