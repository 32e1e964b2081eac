import { readFile } from 'node:fs/promises';
import { Prisma } from '../src/generated/prisma/client.js';
import * as enums from '../src/generated/prisma/enums.js';
import { startTasks, type Tasks } from './harness.js';

let tasks: Tasks;
let schema: string;

beforeAll(async () => {
  tasks = await startTasks();
  schema = await readFile(new URL('../prisma/schema.prisma', import.meta.url), 'utf8');
});
afterAll(() => tasks[Symbol.asyncDispose]());

interface Column {
  readonly type: string;
  readonly nullable: boolean;
  readonly default: boolean;
}
type Tables = Record<string, Record<string, Column>>;

const nativeTypes: Record<string, string> = {
  ...{
    String: 'text',
    Int: 'int4',
    BigInt: 'int8',
    Float: 'float8',
    Boolean: 'bool',
    Json: 'jsonb',
    DateTime: 'timestamptz(6)',
  },
  ...{ '@db.Uuid': 'uuid', '@db.SmallInt': 'int2', '@db.Timestamptz(3)': 'timestamptz(3)' },
};

const blocks = (kind: string) =>
  [...schema.matchAll(new RegExp(`^${kind} (\\w+) \\{\\n(.*?)^\\}`, 'gms'))].map(([, name = '', body = '']) => ({
    name,
    body,
  }));
const mapped = (body: string) => /@@map\("(\w+)"\)/.exec(body)?.[1] ?? '';

/** The tables that schema.prisma, and with it the generated client, believes in. */
function believed(): Tables {
  const types = { ...nativeTypes, ...Object.fromEntries(blocks('enum').map(({ name, body }) => [name, mapped(body)])) };
  return Object.fromEntries(blocks('model').map(({ body }) => [mapped(body), columnsOf(body, types)]));
}

function columnsOf(body: string, types: Record<string, string>): Record<string, Column> {
  const fields = [...body.matchAll(/^ {2}(\w+) +(\w+)(\[\]|\?)?(.*)$/gm)];
  const scalars = fields.filter(([, , type = '']) => types[type] !== undefined);
  return Object.fromEntries(
    scalars.map(([, name, type = '', arity, attributes = '']) => {
      const native = types[/@db\.\S+/.exec(attributes)?.[0] ?? type] ?? 'unknown';
      // Prisma does not ask that a list is NOT NULL: it reads NULL as an empty one.
      const nullable = arity !== undefined;
      return [
        name,
        { type: arity === '[]' ? `_${native}` : native, nullable, default: attributes.includes('@default') },
      ];
    }),
  );
}

/** The tables as the migrations have made them. */
async function migrated(): Promise<Tables> {
  const rows = await tasks.context.database.prisma.$queryRaw<(Column & { table: string; column: string })[]>`
    SELECT table_name AS table, column_name AS column, is_nullable = 'YES' AS nullable, column_default IS NOT NULL AS default,
      udt_name || coalesce('(' || datetime_precision || ')', '') AS type
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> '_prisma_migrations'`;
  const tables: Tables = {};
  for (const { table, column, ...rest } of rows) tables[table] = { ...tables[table], [column]: rest };
  return tables;
}

test('every model is a table with the same columns, types, nullability and defaults, and the other way round', async () => {
  const tables = believed();
  expect(Object.keys(tables).sort()).toEqual(['claim', 'log_entry', 'message', 'task']);
  expect(await migrated()).toEqual(tables);
});

test('the generated client is the one of this schema', () => {
  const tables = believed();
  const columns = (names: object) => Object.keys(names);
  expect(columns(Prisma.TaskScalarFieldEnum)).toEqual(columns(tables.task ?? {}));
  expect(columns(Prisma.ClaimScalarFieldEnum)).toEqual(columns(tables.claim ?? {}));
  expect(columns(Prisma.MessageScalarFieldEnum)).toEqual(columns(tables.message ?? {}));
  expect(columns(Prisma.LogEntryScalarFieldEnum)).toEqual(columns(tables.log_entry ?? {}));
});

test('every enum has the same values in the same order, on which sorting by priority depends', async () => {
  const rows = await tasks.context.database.prisma.$queryRaw<{ name: string; values: string[] }[]>`
    SELECT typname::text AS name, array_agg(enumlabel::text ORDER BY enumsortorder) AS values
    FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid GROUP BY typname`;
  const inDatabase = Object.fromEntries(rows.map(({ name, values }) => [name, values]));
  const { TaskStatus, TaskPriority, ClaimStatus, MessageType } = enums;
  const inClient = {
    task_status: TaskStatus,
    task_priority: TaskPriority,
    claim_status: ClaimStatus,
    message_type: MessageType,
  };
  expect(inDatabase).toEqual(
    Object.fromEntries(Object.entries(inClient).map(([name, values]) => [name, Object.keys(values)])),
  );
});

test('the primary keys and relations are those of the models', async () => {
  const rows = await tasks.context.database.prisma.$queryRaw<{ definition: string }[]>`
    SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) AS definition FROM pg_constraint
    WHERE contype IN ('p', 'f') AND connamespace = 'public'::regnamespace AND conrelid <> '_prisma_migrations'::regclass`;
  const found = rows.map(({ definition }) => definition.replace(/ ON .*|"/g, '')).sort();
  const expected = blocks('model').flatMap(({ body }) => {
    const table = mapped(body);
    const single = [...body.matchAll(/^ {2}(\w+) .* @id\b/gm)];
    const composite = [...body.matchAll(/@@id\(\[(.*)\]\)/g)];
    const keys = [...single, ...composite].map(([, names]) => `${table} PRIMARY KEY (${names})`);
    const relations = [...body.matchAll(/ (\w+)\?? +@relation\(.*fields: \[(\w+)\], references: \[(\w+)\]/g)];
    return [
      ...keys,
      ...relations.map(
        ([, to = '', from, key]) => `${table} FOREIGN KEY (${from}) REFERENCES ${to.toLowerCase()}(${key})`,
      ),
    ];
  });
  expect(found).toEqual(expected.sort());
});
