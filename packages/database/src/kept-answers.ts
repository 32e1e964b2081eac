import { fileURLToPath } from 'node:url';
import { AppError } from '@acsp/errors';
import type { KeptAnswer, Once } from '@acsp/operation';
import type pg from 'pg';
import type { ExpiredRows } from './delete-expired.js';
import type { MigrationSet } from './migration-files.js';

export const answerMigrations: MigrationSet = {
  directory: fileURLToPath(new URL('../migrations', import.meta.url)),
  schema: 'idempotency',
};

/** Another request has committed its answer under this Idempotency-Key: nothing was changed, and that answer stands. */
export class RepeatedError extends Error {
  override readonly name = 'RepeatedError';
}

/** The part of a Prisma transaction that this file needs. */
export interface RawExecutor {
  $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>;
}

/** Keeps an answer with the change that it tells of. Throws RepeatedError, which rolls the change back, where the key has one already. */
export async function keepAnswer(tx: RawExecutor, { key, print, encode }: Once, answer: unknown): Promise<void> {
  const { status, body } = encode(answer);
  const kept = await tx.$executeRaw`INSERT INTO idempotency.answer (key, print, status, body)
    VALUES (${key}, ${print}, ${status}, ${body}) ON CONFLICT DO NOTHING`;
  if (kept === 0) throw new RepeatedError();
}

/** The columns of a kept answer, for a statement that writes it together with its change; all null without an Idempotency-Key. */
export interface AnswerRow {
  readonly answer_key: string | null;
  readonly answer_print: string | null;
  readonly answer_status: number | null;
  readonly answer_body: string | null;
}

export const answerColumns = {
  answer_key: 'text',
  answer_print: 'text',
  answer_status: 'smallint',
  answer_body: 'text',
} as const satisfies Record<keyof AnswerRow, string>;

export function answerRow(once: Once | undefined, answer: unknown): AnswerRow {
  const kept = once?.encode(answer);
  return {
    answer_key: once?.key ?? null,
    answer_print: once?.print ?? null,
    answer_status: kept?.status ?? null,
    answer_body: kept?.body ?? null,
  };
}

/**
 * A CTE that keeps the answers of rows which have these columns. A key that has one already fails the statement as a unique violation, and the
 * public door answers with the one that is kept.
 */
export const keepAnswers = (rows: string): string => `kept_answer AS (
  INSERT INTO idempotency.answer (key, print, status, body)
  SELECT answer_key, answer_print, answer_status, answer_body FROM ${rows} WHERE answer_key IS NOT NULL)`;

/** Answers by Idempotency-Key, as the public door asks for them. */
export interface KeptAnswers {
  /** Throws IDEMPOTENCY_KEY_REUSED where the key belongs to another request. */
  find(once: Once): Promise<KeptAnswer | undefined>;
  /** Resolves with the answer that stands: an earlier one where there is one, which a transaction may have kept with its change. */
  keep(once: Once, answer: KeptAnswer): Promise<KeptAnswer>;
}

const kept = { name: 'kept-answer', text: 'SELECT print, status, body FROM idempotency.answer WHERE key = $1' };
const insert = {
  name: 'keep-answer',
  text: 'INSERT INTO idempotency.answer (key, print, status, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
};

export function keptAnswers(pool: pg.Pool): KeptAnswers {
  async function find({ key, print }: Once): Promise<KeptAnswer | undefined> {
    const { rows } = await pool.query<KeptAnswer & { readonly print: string }>({ ...kept, values: [key] });
    const [answer] = rows;
    if (answer === undefined) return undefined;
    if (answer.print !== print) throw new AppError('IDEMPOTENCY_KEY_REUSED');
    return { status: answer.status, body: answer.body };
  }
  return {
    find,
    async keep(once, { status, body }) {
      const before = await find(once);
      if (before !== undefined) return before;
      await pool.query({ ...insert, values: [once.key, once.print, status, body] });
      return (await find(once)) ?? { status, body };
    },
  };
}

export const expiredAnswers: ExpiredRows = {
  table: 'idempotency.answer',
  key: 'key',
  where: "created_at < now() - interval '1 day'",
};
