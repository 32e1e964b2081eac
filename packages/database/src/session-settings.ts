import type { ClientBase } from 'pg';

/** PostgreSQL's settings of a connection, by name. */
export type SessionSettings = Readonly<Record<string, string>>;

/**
 * Statements and their readers rely on these, whatever the server, the database or the role are set to. `default_transaction_read_only` is left to
 * them: a database that takes no writes has to say so. Times are in milliseconds.
 */
const relied: SessionSettings = {
  // Times come back as text, which node-postgres and Prisma read in this form only.
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  // Prisma names its tables in this schema, so migrations and other statements must mean the same.
  search_path: 'public',
  // Statements that wait for a lock go on with the newest rows.
  default_transaction_isolation: 'read committed',
  statement_timeout: '5000',
  idle_in_transaction_session_timeout: '5000',
  // Statements that wait for locks set their own; pools and sessions keep idle connections.
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
};

/**
 * For statements that find every row by its key. The plan of a prepared statement is made once; without this it may be one that reads whole tables,
 * made while they were small, and stays until statistics say otherwise.
 */
export const keyedPlans: SessionSettings = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

// Older servers do not know all of them.
const text = `SELECT set_config(key, value, false) FROM json_each_text($1::json) AS setting (key, value)
  WHERE current_setting(key, true) IS NOT NULL`;

/**
 * Sets up a connection that has just been made, by a statement: poolers refuse startup parameters that they do not know, or drop them, and those of a
 * connection string take the place of ours.
 */
export async function applySettings(client: ClientBase, settings: SessionSettings = {}): Promise<void> {
  await client.query(text, [JSON.stringify({ ...relied, ...settings })]);
}
