import pg from 'pg';

/** Makes a database on a server unless it is there, and gives its connection string. */
export async function ensureDatabase(serverUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: ofServer(serverUrl), connectionTimeoutMillis: 5_000 });
  // Without a listener a lost connection would end the process. The statement on it reports the loss.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  } catch (error) {
    // Somebody else made it between the question and the command.
    if ((error as { code?: string }).code !== '42P04') throw error;
  } finally {
    await client.end().catch(() => {});
  }
  return withDatabase(serverUrl, name);
}

/** A URL that names no database means the server: the one that is always there, in place of one with the user's name. */
const ofServer = (url: string): string =>
  /^postgres(?:ql)?:\/\/[^/?#]*\/?(?:\?|$)/i.test(url) ? withDatabase(url, 'postgres') : url;

/** As text, because a URL with a user and no host, whose socket is in the query, is none to the parser of Node. */
export function withDatabase(url: string, name: string): string {
  const [, socket, query = ''] = /^(socket:[^?]*)\??(.*)$/i.exec(url) ?? [];
  if (socket === undefined) return url.replace(/^(\w+:\/\/[^/?#]*)(?:\/[^?#]*)?/, `$1/${encodeURIComponent(name)}`);
  const parameters = new URLSearchParams(query);
  parameters.set('db', name);
  return `${socket}?${parameters}`;
}
