/** Posts to one busy channel from two replicas wait for each other's commits, which take a few milliseconds. */
const lockWaitMs = 200;

/** PostgreSQL quotes what it cannot convert, in every language: see inputRows. */
const lateMark = 'begun late at ';

/** The statement began too late and has done nothing (SQLSTATE 22P02). */
export const isLate = (error: unknown): boolean => codeOf(error) === '22P02' && String(error).includes(lateMark);

export const codeOf = (error: unknown): string => String((error as { code?: unknown }).code);

export interface InputRules {
  /** The statement writes, so it takes only what begins in time: $2 for all of it, and the deadlines of $3 for each input. */
  readonly inTime: boolean;
  /** The statement waits for locked rows, but not for long. */
  readonly locks: boolean;
}

/** The CTE `input`, a row for each input of the JSON array $1. */
export function inputRows(columns: Readonly<Record<string, string>>, { inTime, locks }: InputRules): string {
  const names = Object.keys(columns);
  const typed = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  if (!inTime) return `input AS (SELECT ${names} FROM json_to_recordset($1::json) AS input (${typed}))`;
  const rows = `ROWS FROM (json_to_recordset($1::json) AS (${typed}), unnest($3::float8[])) AS input (${names}, call_deadline)`;
  const isInTime = 'extract(epoch FROM clock_timestamp()) * 1000 < call_deadline';
  // A PostgreSQL process that stood still must not run a statement that its client has given up: once late, the cast to boolean fails.
  const late = `('${lateMark}' || clock_timestamp())::boolean`;
  // The rest of the statement locks rows by what it reads here, and goes by this limit; it ends with the statement.
  const limit = locks ? ` AND set_config('lock_timeout', '${lockWaitMs}', true) IS NOT NULL` : '';
  return `input AS (SELECT ${names} FROM ${rows}
    WHERE CASE WHEN clock_timestamp() < $2::timestamptz THEN true ELSE ${late} END AND ${isInTime}${limit})`;
}
