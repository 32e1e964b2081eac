import { createHash } from 'node:crypto';

const maxStatements = 500;

/**
 * Names statements, so that PostgreSQL parses and plans each once a connection: half of its CPU time in a statement that inserts four rows.
 * Left unnamed are a star over a table, because a prepared statement fails for good once a migration has changed the columns behind it,
 * and whatever comes after the first 500 texts, because texts that vary without end would fill the server's memory.
 */
export function createStatementNames(): (query: { readonly sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    if (names.size >= maxStatements || hasStarOverTable(sql)) return '';
    const name = createHash('sha256').update(sql).digest('base64url').slice(0, 22);
    names.set(sql, name);
    return name;
  };
}

/** `input.*` is no such star where the statement itself says what `input` is. */
export function hasStarOverTable(sql: string): boolean {
  const stars = sql.matchAll(/\b(?:select|returning)\s+(?:(\w+)\.)?\*/gi);
  return [...stars].some(([, of]) => of === undefined || !new RegExp(`\\b${of} AS \\(`, 'i').test(sql));
}
