import { AppError } from '@acsp/errors';
import type { Query } from './query.js';

/** A statement that does for a list of inputs what it would do for one, and costs little more: starting a statement is most of what it costs. */
export interface BatchStatement<Input, Row> {
  /** The columns of the CTE `input`, which has a row for each input, and their types. */
  readonly columns: Readonly<Record<keyof Input, string>>;
  /** What follows `WITH input AS (…)`, be it a comma and further parts or the query. Every row of the answer has the `key` of the input that it is for. */
  readonly text: string;
  /** What the input is about, such as the id of a row. Inputs of one key never share a run, nor do they run at the same time. */
  readonly key: (input: Input) => string;
  /** It changes nothing: inputs of one key are one input. */
  readonly readOnly?: boolean;
  /** Inputs of a run, where rows may be large; 32 when absent. */
  readonly maxInputs?: number;
  /** The type of a row, and nothing else. */
  readonly row?: Row;
}

/** The row for this input, or undefined where the statement answers none. Inputs that wait at the same time share a run. */
export type Batch = <Input extends object, Row>(
  statement: BatchStatement<Input, Row>,
  input: Input,
) => Promise<Row | undefined>;

interface Waiting {
  readonly key: string;
  readonly input: object;
  readonly since: number;
  readonly resolve: (row: never) => void;
  readonly reject: (error: unknown) => void;
}

/** While a run is on its way, further inputs gather for the next one; beside a run that takes long, at a lock or on a slow disk, one more begins. */
const maxRuns = 2;
const slowMs = 10;
const maxWaitMs = 2_000;

/** Statements that only read have connections of their own: they must not wait while those that write stand at locks. */
export function createBatch(write: Query, read: Query): Batch {
  const queues = new Map<object, ReturnType<typeof createQueue>>();
  return (statement, input) => {
    const enqueue = queues.get(statement) ?? createQueue(statement, statement.readOnly ? read : write);
    queues.set(statement, enqueue);
    return new Promise((resolve, reject) => {
      enqueue({ key: statement.key(input), input, since: performance.now(), resolve, reject });
    });
  };
}

function createQueue(statement: BatchStatement<never, unknown>, query: Query) {
  const { readOnly = false, maxInputs = 32 } = statement;
  const text = `WITH ${inputRows(statement.columns)} ${statement.text}`;
  let waiting: Waiting[] = [];
  const busy = new Set<string>();
  let runs = 0;
  let planned = false;
  let startedAt = 0;

  /** At the end of this turn of the event loop, so that what else comes in with it is there as well. */
  function plan(): void {
    const free = runs === 0 || (runs < maxRuns && performance.now() - startedAt >= slowMs);
    if (planned || !free || waiting.length === 0) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      const chosen = choose();
      if (chosen.size === 0) return;
      runs += 1;
      startedAt = performance.now();
      // A millisecond more: timers may be early by a fraction of one.
      const slow = setTimeout(plan, slowMs + 1);
      run(query, text, chosen).finally(() => {
        clearTimeout(slow);
        runs -= 1;
        for (const key of chosen.keys()) busy.delete(key);
        plan();
      });
    });
  }

  /** The oldest whose turn it may be, by key, in the order of keys: whoever locks rows in one order never waits in a circle. */
  function choose(): Map<string, Waiting[]> {
    const chosen = new Map<string, Waiting[]>();
    waiting = waiting.filter((one) => {
      const others = chosen.get(one.key);
      if (refusedAsLate(one)) return false;
      if (others !== undefined && readOnly) others.push(one);
      else if (others !== undefined || busy.has(one.key) || chosen.size === maxInputs) return true;
      else chosen.set(one.key, [one]);
      return false;
    });
    if (!readOnly) for (const key of chosen.keys()) busy.add(key);
    return new Map([...chosen].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  return (one: Waiting) => {
    waiting.push(one);
    plan();
  };
}

type Chosen = ReadonlyMap<string, readonly Waiting[]>;

async function run(query: Query, text: string, chosen: Chosen): Promise<void> {
  const all = [...chosen.values()];
  try {
    const inputs = JSON.stringify(all.map(([one]) => one?.input));
    const rows = await query<{ key: string }>({ text, values: [inputs] });
    const found = new Map(rows.map((row) => [row.key, row]));
    for (const [key, ones] of chosen) for (const { resolve } of ones) resolve(found.get(key) as never);
  } catch (error) {
    if (chosen.size > 1 && concernsOne(error)) await runSingly(query, text, chosen);
    else for (const { reject } of all.flat()) reject(error);
  }
}

async function runSingly(query: Query, text: string, chosen: Chosen): Promise<void> {
  for (const [key, ones] of chosen) {
    const inTime = ones.filter((one) => !refusedAsLate(one));
    if (inTime.length > 0) await run(query, text, new Map([[key, inTime]]));
  }
}

/** Whoever has waited that long may have been told that it failed; it must not happen now. */
function refusedAsLate({ since, reject }: Waiting): boolean {
  const late = performance.now() - since > maxWaitMs;
  if (late) reject(new AppError('SERVICE_UNAVAILABLE', { detail: 'The database is too slow' }));
  return late;
}

/** Whether the statement was rolled back for the sake of a row: bad data, a constraint, a deadlock (SQLSTATE classes 22, 23 and 40). */
const concernsOne = (error: unknown) => /^(22|23|40)/.test(String((error as { code?: unknown }).code));

const inputRows = (columns: Readonly<Record<string, string>>) => {
  const typed = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  return `input AS (SELECT ${Object.keys(columns)} FROM json_to_recordset($1::json) AS input (${typed}))`;
};
