import type { BatchStatement } from '@acsp/database';
import type { Context } from '../context.js';
import { type Claim, type Message, Prisma, type Task } from '../generated/prisma/client.js';
import { type Aggregated, summaryColumns } from './present.js';

interface Parts {
  readonly claims: readonly Aggregated<Claim>[] | null;
  readonly subtasks: readonly Aggregated<Task>[] | null;
  readonly messages: readonly Aggregated<Message>[] | null;
}

/** A row with its newest claims, subtasks and messages. */
type Details = Task & Parts;

const namesOf = (columns: object) => Object.keys(columns).join(', ');
const byTime = { order: ['created_at', 'id'], key: 'id' };
const byPosition = { order: ['position'], key: 'position' };
const claims = { table: 'claim', columns: namesOf(Prisma.ClaimScalarFieldEnum), of: 'claim.task_id', ...byTime };
const subtasks = { table: 'task AS subtask', columns: summaryColumns, of: 'subtask.parent_id', ...byTime };
const messages = {
  table: 'message',
  columns: namesOf(Prisma.MessageScalarFieldEnum),
  of: 'message.task_id',
  ...byPosition,
};
const taskColumns = Object.keys(Prisma.TaskScalarFieldEnum).map((name) => `task.${name}`);

interface Part {
  readonly table: string;
  readonly columns: string;
  /** The column that names the task. */
  readonly of: string;
  /** Oldest first. */
  readonly order: readonly string[];
  /** Unique within the task. */
  readonly key: string;
  readonly maxRows: number;
  readonly maxBytes: number;
  /** SQL for the answer where there are more bytes than that; the newest of them when absent. */
  readonly orElse?: string;
}

/**
 * The newest rows of a table as a JSON array, oldest first: so many at most, and no more bytes of JSON than that. Rows are measured one by one
 * and read again where they fit, so that PostgreSQL never holds more of them; OFFSET 0 keeps it from carrying them along.
 */
const newest = ({ table, columns, of, order, key, maxRows, maxBytes, orElse }: Part) => {
  const newestFirst = order.map((column) => `${column} DESC`).join(', ');
  const all = `json_agg(row_to_json(part) ORDER BY ${order.map((column) => `part.${column}`).join(', ')})`;
  return `(
  SELECT ${orElse === undefined ? all : `CASE WHEN max(total) > ${maxBytes} THEN ${orElse} ELSE ${all} END`}
  FROM (
    SELECT ${key}, sum(bytes) OVER () AS total, sum(bytes) OVER (ORDER BY ${newestFirst}) AS bytes FROM (
      SELECT ${order.join(', ')}, octet_length(row_to_json(found)::text) AS bytes FROM (
        SELECT ${columns} FROM ${table} WHERE ${of} = task.id ORDER BY ${newestFirst} LIMIT ${maxRows}
      ) AS found OFFSET 0
    ) AS measured
  ) AS chosen CROSS JOIN LATERAL (
    SELECT ${columns} FROM ${table} WHERE ${of} = task.id AND ${key} = chosen.${key}
  ) AS part WHERE bytes <= ${maxBytes})`;
};

const kibibyte = 2 ** 10;
const mebibyte = 2 ** 20;

type Limit = Pick<Part, 'maxBytes' | 'orElse'>;

const columnsWithin = (limits: Readonly<Record<'claims' | 'subtasks' | 'messages', Limit>>) => `
  SELECT task.id AS key, ${taskColumns.join(', ')},
    ${newest({ ...claims, maxRows: 200, ...limits.claims })} AS claims,
    CASE WHEN task.subtasks_count > 0 THEN ${newest({ ...subtasks, maxRows: 200, ...limits.subtasks })} END AS subtasks,
    ${newest({ ...messages, maxRows: 500, ...limits.messages })} AS messages
  FROM input JOIN task ON task.id = input.id`;

/** No row is as large as this, so a part that is larger has rows, and says so. */
const some: Limit = { maxBytes: 128 * kibibyte, orElse: `'"large"'::json` };

type Batched = Task & { readonly [Name in keyof Parts]: Parts[Name] | 'large' };

/** One round trip for the tasks of many readers. */
const ordinary: BatchStatement<{ readonly id: string }, Batched> = {
  name: 'task details',
  columns: { id: 'uuid' },
  key: ({ id }) => id,
  readOnly: true,
  maxInputs: 16,
  text: columnsWithin({ claims: some, subtasks: some, messages: some }),
};

/** PostgreSQL builds 7 MiB at most. */
const largest = `WITH input AS (SELECT $1::uuid AS id) ${columnsWithin({
  claims: { maxBytes: mebibyte },
  subtasks: { maxBytes: 2 * mebibyte },
  messages: { maxBytes: 4 * mebibyte },
})}`;

/**
 * Large tasks are read one after the other: each takes some tens of megabytes of memory on its way, and a tenth of a second in which this process
 * answers nobody else. Forty at once kept others waiting for three seconds.
 */
export async function readDetails({ database, largeTasks }: Context, id: string): Promise<Details | undefined> {
  if (!largeTasks.known.has(id)) {
    const found = await database.batch(ordinary, { id });
    if (found === undefined || isWhole(found)) return found;
    largeTasks.known.set(id, true);
  }
  return largeTasks.lane(async () => (await database.query<Details>({ text: largest, values: [id] }))[0]);
}

const isWhole = (task: Batched): task is Details =>
  task.claims !== 'large' && task.subtasks !== 'large' && task.messages !== 'large';
