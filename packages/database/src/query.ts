import type pg from 'pg';
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
  return async <Row>({ text, values }: Statement) => {
    const { rows } = await pool.query({ name: nameOf({ sql: text }), text, values: values as unknown[] });
    return rows as Row[];
  };
}
