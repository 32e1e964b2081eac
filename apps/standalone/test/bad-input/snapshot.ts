import type pg from 'pg';

/**
 * A number of rows and a checksum for every table of a service, the outbox included. Heartbeats of caches and positions in the bus come and
 * go with time, not with requests.
 */
export async function snapshot(pool: pg.Pool): Promise<Record<string, string>> {
  const { rows: tables } = await pool.query<{ name: string }>(`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE (schemaname = 'public' AND tablename NOT IN ('_prisma_migrations', 'feed_position')) OR (schemaname = 'bus' AND tablename = 'outbox')`);
  const state: Record<string, string> = {};
  for (const { name } of tables) {
    // The relay marks rows whenever it comes to it, and streams are noted now and then, and after their end.
    const { rows } = await pool.query<{ state: string }>(`
      SELECT count(*) || ' ' || coalesce(md5(string_agg(digest, '' ORDER BY digest)), '') AS state
      FROM (SELECT md5((to_jsonb(t) - '{published_at,alive_at,ended_at}'::text[])::text) AS digest FROM ${name} AS t WHERE to_jsonb(t)->>'type' IS DISTINCT FROM 'path.proven') AS digests`);
    state[name] = rows[0]?.state ?? '';
  }
  return state;
}
