import pg from 'pg';
import { createStatementNames } from './statement-name.js';

/** A statement as `Prisma.sql` makes it. */
export interface Statement {
  /** The text has `$1`, `$2` … for the values. */
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * One statement and its rows. Columns are what node-postgres makes of them: dates, arrays and JSON as such, `bigint` and `numeric` as text.
 */
export type Query = <Row>(statement: Statement) => Promise<Row[]>;

export function createQuery(pool: pg.Pool): Query {
  const nameOf = createStatementNames();
  return <Row>({ text, values }: Statement) =>
    onConnection(pool, async (client) => {
      const { rows } = await client.query({ name: nameOf({ sql: text }), text, values: values as unknown[] });
      return rows as Row[];
    });
}

/**
 * Runs on a connection of the pool, which stays open after an error that PostgreSQL answers, unless `run` calls `close`: pool.query would close it
 * and its prepared statements.
 */
export async function onConnection<T>(
  pool: pg.Pool,
  run: (client: pg.PoolClient, close: () => void) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isBroken = false;
  const close = () => {
    isBroken = true;
  };
  try {
    return await run(client, close);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) close();
    throw error;
  } finally {
    client.release(isBroken);
  }
}
