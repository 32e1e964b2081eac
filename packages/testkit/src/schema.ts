import { readFile } from 'node:fs/promises';
import pg from 'pg';

/**
 * Compares a schema.prisma with the migrated tables of the schema `public`, both ways: tables, columns with their types, nullability and
 * defaults, primary and foreign keys, unique columns, enums with their values in order, and the generated client. Answers the differences, one a
 * line: `schema` or `database` says which of the two has it.
 */
export async function compareSchema(file: URL, databaseUrl: string): Promise<string[]> {
  const text = await readFile(file, 'utf8');
  const [believed, found] = [linesOf(text), await migratedLines(databaseUrl)];
  const only = (side: string, lines: ReadonlySet<string>, others: ReadonlySet<string>) =>
    [...lines].filter((line) => !others.has(line)).map((line) => `${side}: ${line}`);
  return [
    ...only('schema', believed, found),
    ...only('database', found, believed),
    ...((await clientIsOf(text, file)) ? [] : ['the generated client is of another schema']),
  ];
}

/** Prisma's scalar and native types as PostgreSQL spells them. */
const scalarTypes: Readonly<Record<string, string>> = {
  ...{ String: 'text', Boolean: 'boolean', Int: 'integer', BigInt: 'bigint', Float: 'double precision' },
  ...{ Decimal: 'numeric(65,30)', Json: 'jsonb', Bytes: 'bytea', DateTime: 'timestamp(3) without time zone' },
};
const nativeTypes: Readonly<Record<string, string>> = {
  ...{
    Uuid: 'uuid',
    SmallInt: 'smallint',
    Real: 'real',
    Json: 'json',
    Date: 'date',
    Timestamptz: 'timestamp with time zone',
  },
  ...{ Decimal: 'numeric', VarChar: 'character varying', Char: 'character' },
};

interface Block {
  readonly name: string;
  readonly table: string;
  readonly body: string;
}

const blocks = (text: string, kind: string): Block[] =>
  [...text.matchAll(new RegExp(`^${kind} (\\w+) \\{\\n(.*?)^\\}`, 'gms'))].map(([, name = '', body = '']) => ({
    name,
    table: /@@map\("(\w+)"\)/.exec(body)?.[1] ?? name,
    body,
  }));

function linesOf(text: string): Set<string> {
  const [models, enums] = [blocks(text, 'model'), blocks(text, 'enum')];
  const types = { ...scalarTypes, ...Object.fromEntries(enums.map(({ name, table }) => [name, table])) };
  const tables = Object.fromEntries(models.map(({ name, table }) => [name, table]));
  return new Set([
    ...models.flatMap((model) => [`table ${model.table}`, ...columnsOf(model, types), ...keysOf(model, tables)]),
    ...enums.map(({ table, body }) => `enum ${table} ${[...body.matchAll(/^ {2}(\w+)/gm)].map(([, value]) => value)}`),
  ]);
}

const fieldPattern = /^ {2}(\w+) +(\w+)(?:\("([^"]+)"\))?(\[\]|\?)?(.*)$/gm;
/** Prisma makes these values itself, so the column has no default. */
const clientDefault = /@default\((uuid|cuid|nanoid|ulid)\(/;

function columnsOf({ table, body }: Block, types: Readonly<Record<string, string>>): string[] {
  return [...body.matchAll(fieldPattern)].flatMap(([, name, type = '', unsupported, arity, attributes = '']) => {
    const base = unsupported ?? nativeType(attributes) ?? types[type];
    if (base === undefined) return [];
    // Lists may be NOT NULL or not: Prisma reads NULL as an empty one.
    const nullable = arity === '?' ? ' null' : '';
    const filled = attributes.includes('@default') && !clientDefault.test(attributes) ? ' default' : '';
    return [`column ${table}.${columnOf(name, attributes)} ${base}${arity === '[]' ? '[]' : ''}${nullable}${filled}`];
  });
}

const columnOf = (name = '', attributes: string) => / @map\("(\w+)"\)/.exec(attributes)?.[1] ?? name;

function nativeType(attributes: string): string | undefined {
  const [, name = '', size] = /@db\.(\w+)(?:\(([^)]*)\))?/.exec(attributes) ?? [];
  const type = nativeTypes[name];
  return size === undefined ? type : type?.replace(/^\w+( varying)?/, `$&(${size.replaceAll(' ', '')})`);
}

function keysOf({ table, body }: Block, tables: Readonly<Record<string, string>>): string[] {
  const single = (attribute: string) => [...body.matchAll(new RegExp(`^ {2}(\\w+) .*@${attribute}\\b`, 'gm'))];
  const composite = (attribute: string) => [...body.matchAll(new RegExp(`@@${attribute}\\(\\[(.*?)\\]`, 'g'))];
  const all = (attribute: string) => [...single(attribute), ...composite(attribute)].map(([, names]) => names);
  const relations = body.matchAll(/ (\w+)\?? +@relation\(.*fields: \[(.*?)\], references: \[(.*?)\]/g);
  return [
    ...all('id').map((names) => `PRIMARY KEY ${table} (${names})`),
    ...all('unique').map((names) => `UNIQUE ${table} (${names})`),
    ...[...relations].map(
      ([, to = '', from, key]) => `FOREIGN KEY ${table} (${from}) REFERENCES ${tables[to]}(${key})`,
    ),
  ];
}

const ownTables = `pg_class.relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> '_prisma_migrations'`;

/** Partial and expression indexes are the migrations' own: Prisma cannot say them. */
const asLines = `
  SELECT 'table ' || relname AS line FROM pg_class WHERE ${ownTables}
  UNION ALL
  SELECT concat('column ', relname, '.', attname, ' ', format_type(atttypid, atttypmod),
    CASE WHEN NOT attnotnull AND typcategory <> 'A' THEN ' null' END,
    CASE WHEN atthasdef OR attidentity <> '' THEN ' default' END)
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_type ON pg_type.oid = atttypid
  WHERE ${ownTables} AND attnum > 0 AND NOT attisdropped
  UNION ALL
  SELECT regexp_replace(pg_get_constraintdef(pg_constraint.oid), '^(PRIMARY KEY|FOREIGN KEY) (.*?)( ON .*)?$', '\\1 ' || relname || ' \\2')
  FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid WHERE ${ownTables} AND contype IN ('p', 'f')
  UNION ALL
  SELECT concat('UNIQUE ', relname, ' (', string_agg(attname, ', ' ORDER BY array_position(indkey::int2[], attnum)), ')')
  FROM pg_index JOIN pg_class ON pg_class.oid = indrelid JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)
  WHERE ${ownTables} AND indisunique AND NOT indisprimary AND indpred IS NULL AND indexprs IS NULL GROUP BY relname, indexrelid
  UNION ALL
  SELECT concat('enum ', typname, ' ', string_agg(enumlabel, ',' ORDER BY enumsortorder))
  FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid GROUP BY typname`;

async function migratedLines(databaseUrl: string): Promise<Set<string>> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ line: string }>(asLines);
    return new Set(rows.map(({ line }) => line.replaceAll('"', '')));
  } finally {
    await client.end();
  }
}

/** Prisma writes the schema into the client that it generates. */
async function clientIsOf(text: string, file: URL): Promise<boolean> {
  const output = /^ {2}output += "(.*)"/m.exec(text)?.[1];
  if (output === undefined) return false;
  const code = await readFile(new URL(`${output}/internal/class.ts`, file), 'utf8');
  const inline = /"inlineSchema": ("(?:[^"\\]|\\.)*")/.exec(code)?.[1];
  return inline !== undefined && JSON.parse(inline) === text;
}
