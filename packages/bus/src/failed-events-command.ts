import { parseArgs } from 'node:util';
import pg from 'pg';

// For operators, see docs/operations/events.md. It prints no payload: that may be private.

const usage = `Usage: pnpm events -- <list|replay|drop> [--consumer NAME] [--id UUID] [--parked]

  list    prints dead letters (events that a consumer has given up) and parked events (rows of the outbox that cannot be published)
  replay  gives dead letters to their consumer again, and parked events to the relay
  drop    deletes them

  --consumer NAME  only dead letters of this consumer
  --id UUID        only this event
  --parked         only parked events

replay and drop need at least one of these. DATABASE_URL names the database of the service.
Exit codes: 0 done, 1 nothing to replay or drop, 2 usage, 3 the database failed.
`;

const [done, nothingFound, misused, failed] = [0, 1, 2, 3];
const actions = ['list', 'replay', 'drop'] as const;

interface Command {
  readonly action: (typeof actions)[number];
  readonly consumer?: string | undefined;
  readonly id?: string | undefined;
  readonly parked: boolean;
}

interface Row {
  readonly consumer: string | null;
  readonly id: string;
  readonly type: string;
  readonly at: Date;
  readonly attempts: number | null;
  readonly error: string | null;
}

const dead = {
  columns: 'consumer, event_id AS id, type, failed_at AS at, attempts, error',
  selection: `state = 'dead' AND ($1::text IS NULL OR consumer = $1) AND ($2::uuid IS NULL OR event_id = $2)`,
};
const parked = {
  columns: 'NULL AS consumer, id, type, occurred_at AS at, NULL AS attempts, NULL AS error',
  selection: `published_at = 'infinity' AND ($1::uuid IS NULL OR id = $1)`,
};
const statements = {
  list: {
    dead: `SELECT ${dead.columns} FROM bus.failed_event WHERE ${dead.selection} ORDER BY failed_at`,
    parked: `SELECT ${parked.columns} FROM bus.outbox WHERE ${parked.selection} ORDER BY position`,
  },
  replay: {
    dead: `UPDATE bus.failed_event SET state = 'waiting', attempts = 0, due_at = now()
      WHERE ${dead.selection} RETURNING ${dead.columns}`,
    parked: `UPDATE bus.outbox SET published_at = NULL WHERE ${parked.selection} RETURNING ${parked.columns}`,
  },
  drop: {
    dead: `DELETE FROM bus.failed_event WHERE ${dead.selection} RETURNING ${dead.columns}`,
    parked: `DELETE FROM bus.outbox WHERE ${parked.selection} RETURNING ${parked.columns}`,
  },
};

/** Throws with a sentence for the operator. */
function parseCommand(args: readonly string[]): Command {
  const { values, positionals } = parseArgs({
    // pnpm hands on the `--` before the arguments.
    args: args[0] === '--' ? args.slice(1) : [...args],
    options: { consumer: { type: 'string' }, id: { type: 'string' }, parked: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const { consumer, id, parked } = values;
  const action = actions.find((known) => known === positionals[0]);
  if (action === undefined || positionals.length > 1) throw new Error('Name one of list, replay and drop.');
  if (id !== undefined && !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)) throw new Error('--id takes a UUID.');
  if (parked && consumer !== undefined) throw new Error('A parked event has no consumer.');
  if (action !== 'list' && !parked && consumer === undefined && id === undefined)
    throw new Error(`Say what to ${action}: --consumer, --id or --parked.`);
  return { action, consumer, id, parked };
}

async function perform({ action, consumer, id, parked: onlyParked }: Command, databaseUrl: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  // The loss of the connection is reported by the statement.
  client.on('error', () => {});
  try {
    await client.connect();
    const rows: Row[] = [];
    const { dead, parked } = statements[action];
    if (!onlyParked) rows.push(...(await client.query<Row>(dead, [consumer, id])).rows);
    if (consumer === undefined) rows.push(...(await client.query<Row>(parked, [id])).rows);
    return rows;
  } finally {
    await client.end();
  }
}

function describe({ consumer, id, type, at, attempts, error }: Row): string {
  const fate = consumer === null ? ['parked', '-'] : ['dead', consumer];
  // One line, and nothing that a terminal would act on.
  const reason = (error ?? '').replace(/\p{C}.*/su, '').slice(0, 200);
  return [...fate, id, type, at.toISOString(), ...(attempts === null ? [] : [`${attempts} attempts`, reason])].join(
    '\t',
  );
}

async function run(args: readonly string[], databaseUrl: string | undefined): Promise<number> {
  let command: Command;
  try {
    command = parseCommand(args);
    if (!databaseUrl) throw new Error('DATABASE_URL is not set.');
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return misused;
  }
  try {
    const rows = await perform(command, databaseUrl);
    for (const row of rows) process.stdout.write(`${describe(row)}\n`);
    process.stderr.write(`${command.action}: ${rows.length}\n`);
    return rows.length === 0 && command.action !== 'list' ? nothingFound : done;
  } catch (error) {
    const { message, code } = error as Error & { readonly code?: string };
    process.stderr.write(`The database failed: ${message || code}\n`);
    return failed;
  }
}

process.exitCode = await run(process.argv.slice(2), process.env.DATABASE_URL);
