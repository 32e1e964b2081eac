import { pause } from '@acsp/time';
import type { Context } from '../context.js';

/** Positions within this time share a statement. */
const saveMs = 50;

export interface SavedPosition extends AsyncDisposable {
  readonly position: string | undefined;
  /** Notes the position, to be saved soon. Throws why the last one could not be. */
  reached(position: string): void;
}

/**
 * The position of a writer in the bus, saved behind its back: events that come would wait for the statement. After a crash those of the last moment
 * come again.
 */
export async function savePosition({ database }: Pick<Context, 'database'>, writer: string): Promise<SavedPosition> {
  const { feedPosition } = database.prisma;
  const saved = await feedPosition.findUnique({ where: { writer } });
  const ending = new AbortController();
  let newest = saved?.position;
  let written = newest;
  let saving: Promise<void> | undefined;
  let failure: unknown;

  /** Throws where another process has become the writer. */
  async function write(before: string | undefined, position: string): Promise<void> {
    if (before === undefined) await feedPosition.create({ data: { writer, position } });
    else {
      const { count } = await feedPosition.updateMany({ where: { writer, position: before }, data: { position } });
      if (count === 0) throw new Error('Another process writes the feeds');
    }
  }

  async function save(): Promise<void> {
    for (let position = newest; position !== undefined && position !== written; position = newest) {
      await write(written, position);
      written = position;
      await pause(saveMs, ending.signal);
    }
    saving = undefined;
  }

  return {
    position: saved?.position,
    reached(position) {
      if (failure !== undefined) throw failure;
      newest = position;
      if (newest === written) return;
      saving ??= save().catch((error) => {
        failure = error;
      });
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await saving;
    },
  };
}
