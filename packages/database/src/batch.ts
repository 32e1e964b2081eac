import type { Call } from '@acsp/operation';
import { gauge, histogram } from '@acsp/telemetry';
import {
  type Chosen,
  createQueue,
  type Queue,
  type Run,
  refusedAsLate,
  refusedAsOver,
  tooSlow,
  type Waiting,
} from './input-queue.js';
import { codeOf, inputRows, isLate } from './input-rows.js';
import type { Query } from './query.js';
import { hasStarOverTable } from './statement-name.js';

/** A statement for a list of inputs that costs little more than for one: starting a statement is most of its cost. */
export interface BatchStatement<Input, Row> {
  /** The label in metrics. */
  readonly name: string;
  /** The columns of the CTE `input`, which has a row for each input, and their types. */
  readonly columns: Readonly<Record<keyof Input, string>>;
  /** The text behind `WITH input AS (…)`: a comma and further CTEs, or the query. Every row of the answer has the `key` of its input. */
  readonly text: string;
  /** Names the thing that the input is about, such as the id of a row. Inputs of one key never share a run of a writing statement, nor run at the same time. */
  readonly key: (input: Input) => string;
  /**
   * Names the row that an input waits for when others hold it, where the statement skips no locked rows: inputs that find it locked for longer than
   * a moment are run apart from their neighbours, until it is free or they are late.
   */
  readonly lock?: (input: Input) => string;
  /** The statement changes nothing, so inputs of one key share one row of `input`. */
  readonly readOnly?: boolean;
  /** The most inputs of a run; 128 when absent. A statement whose rows may be large sets fewer. */
  readonly maxInputs?: number;
  /** The type of a row, and nothing else. */
  readonly row?: Row;
}

/**
 * The row for this input, or undefined where the statement answers none. Inputs that wait at the same time share a run. `call` is the call that it
 * serves: nothing is written that PostgreSQL begins after its deadline, and then it is SERVICE_UNAVAILABLE.
 */
export type Batch = <Input extends object, Row>(
  statement: BatchStatement<Input, Row>,
  input: Input,
  call?: Pick<Call, 'deadline'>,
) => Promise<Row | undefined>;

export interface BatchOptions {
  readonly write: Query;
  /** Statements that only read have connections of their own: they must not wait behind those that write. */
  readonly read: Query;
  /** The milliseconds by which PostgreSQL's clock is ahead of ours. */
  readonly clockAheadMs: () => number;
  readonly onCommit: () => void;
  /** For metrics: the queues of a closed database are not exported. */
  readonly isOpen: () => boolean;
}

/** A statement that PostgreSQL begins later than this does nothing: with its time-out of 5 s it ends before the client's of 8 s. */
const startWithinMs = 2_500;

const durations = histogram('acsp_batch_seconds', 'Duration of a run, by statement', ['statement']);
const depths = gauge('acsp_batch_waiting', 'Inputs that wait for a run, by statement', ['statement']);

export function createBatch(options: BatchOptions): Batch {
  const queues = new Map<object, Queue>();
  const open = (statement: BatchStatement<never, unknown>) => {
    const queue = createQueue(statement, createRun(statement, options));
    queues.set(statement, queue);
    depths.export({ statement: statement.name }, () => (options.isOpen() ? queue.depth() : undefined));
    return queue;
  };
  return (statement, input, call) => {
    const queue = queues.get(statement) ?? open(statement);
    return new Promise((resolve, reject) => {
      queue.add({
        key: statement.key(input),
        lock: statement.lock?.(input),
        input,
        since: performance.now(),
        deadline: call?.deadline ?? Number.POSITIVE_INFINITY,
        resolve,
        reject,
      });
    });
  };
}

function createRun(statement: BatchStatement<never, unknown>, options: BatchOptions): Run {
  const { readOnly = false, name, columns, lock } = statement;
  const text = `WITH ${inputRows(columns, { inTime: !readOnly, locks: lock !== undefined })} ${statement.text}`;
  // Parsing and planning it for each run would be most of its cost.
  if (hasStarOverTable(text)) throw new Error(`The statement ${name} cannot be prepared: list its columns`);
  const ask = async (ones: readonly Waiting[]) => {
    const startedAt = performance.now();
    const inputs = JSON.stringify(ones.map(({ input }) => input));
    const aheadMs = options.clockAheadMs();
    const before = new Date(Date.now() + aheadMs + startWithinMs);
    const values = readOnly ? [inputs] : [inputs, before, ones.map(({ deadline }) => deadline + aheadMs)];
    const rows = await (readOnly ? options.read : options.write)<{ key: string }>({ text, values });
    durations.observe({ statement: name }, (performance.now() - startedAt) / 1000);
    if (!readOnly) options.onCommit();
    return rows;
  };

  async function run(chosen: Chosen): Promise<readonly Waiting[]> {
    const all = [...chosen.values()];
    try {
      const rows = await ask(all.flatMap(([one]) => one ?? []));
      const found = new Map(rows.map((row) => [row.key, row]));
      for (const [key, ones] of chosen) {
        const row = found.get(key);
        for (const one of ones) if (row !== undefined || !refusedAsOver(one)) one.resolve(row as never);
      }
    } catch (error) {
      const waitsForLock = lock !== undefined && codeOf(error) === lockedCode;
      const parts = waitsForLock ? byLock(chosen) : bySingle(chosen);
      if (parts.length > 1 && (waitsForLock || concernsOne(error))) return runParts(parts);
      if (waitsForLock) return all.flat();
      for (const { reject } of all.flat()) reject(isLate(error) ? tooSlow(error) : error);
    }
    return [];
  }

  async function runParts(parts: readonly Chosen[]): Promise<readonly Waiting[]> {
    const again: Waiting[] = [];
    for (const part of parts) {
      const inTime = [...part].map(([key, ones]) => [key, ones.filter((one) => !refusedAsLate(one))] as const);
      const kept = new Map(inTime.filter(([, ones]) => ones.length > 0));
      if (kept.size > 0) again.push(...(await run(kept)));
    }
    return again;
  }

  return run;
}

const bySingle = (chosen: Chosen): Chosen[] => [...chosen].map((entry) => new Map([entry]));

function byLock(chosen: Chosen): Chosen[] {
  const parts = new Map<string, Map<string, readonly Waiting[]>>();
  for (const [key, ones] of chosen) {
    const lock = ones[0]?.lock ?? '';
    parts.set(lock, (parts.get(lock) ?? new Map()).set(key, ones));
  }
  return [...parts.values()];
}

/** The statement was rolled back for the sake of one row: bad data, a constraint, a deadlock (SQLSTATE classes 22, 23 and 40). */
const concernsOne = (error: unknown) => !isLate(error) && /^(22|23|40)/.test(codeOf(error));

/** SQLSTATE lock_not_available: the statement waited longer than lock_timeout. */
const lockedCode = '55P03';
