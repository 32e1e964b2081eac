import { every } from '@acsp/time';
import type { Context } from '../context.js';
import { type Notes, noteAlive } from './claim.js';
import type { Hub } from './hub.js';
import { aliveEveryMs } from './may-open.js';
import type { Radio } from './radio.js';

/** Ends that come together share a statement. */
const gatherMs = 200;
/** A statement stays small, however many streams there are. */
const chunk = 1_000;

export interface NoteKeeper extends AsyncDisposable {
  ended(radio: Radio): void;
  watch(hub: Pick<Hub, 'all'>): AsyncDisposable;
}

/** Writes down when streams end, and now and then that they are open. */
export function keepNotes(context: Notes & Pick<Context, 'log'>): NoteKeeper {
  const { log } = context;
  let endings: Radio[] = [];
  async function note(radios: readonly Radio[], ended: boolean): Promise<void> {
    const noted = radios.filter(({ number }) => number > 0);
    for (let from = 0; from < noted.length; from += chunk)
      await noteAlive(context, noted.slice(from, from + chunk), ended);
  }
  async function flush(): Promise<void> {
    const radios = endings;
    endings = [];
    // A note that is lost only lets its token be taken up twenty seconds longer.
    await note(radios, true);
  }
  const flushing = every({ name: 'ended streams', intervalMs: gatherMs, log }, flush);
  return {
    ended: (radio) => void endings.push(radio),
    watch: ({ all }) => every({ name: 'open streams', intervalMs: aliveEveryMs, log }, () => note([...all()], false)),
    async [Symbol.asyncDispose]() {
      await flushing[Symbol.asyncDispose]();
      await flush().catch(() => {});
    },
  };
}
