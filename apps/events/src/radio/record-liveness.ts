import { every } from '@acsp/time';
import type { Context } from '../context.js';
import { writeLiveness } from './claim.js';
import type { Hub } from './hub.js';
import { aliveEveryMs } from './may-open.js';
import type { Radio } from './radio.js';

/** Ends that come together share a statement. */
const gatherMs = 200;
/** A statement stays small, however many streams there are. */
const chunk = 1_000;

export interface Liveness extends AsyncDisposable {
  ended(radio: Radio): void;
  watch(hub: Pick<Hub, 'all'>): AsyncDisposable;
}

/** Writes down when streams end, and now and then that they are open. */
export function recordLiveness(context: Pick<Context, 'database' | 'clock' | 'log'>): Liveness {
  const { log } = context;
  let endings: Radio[] = [];
  async function write(radios: readonly Radio[], ended: boolean): Promise<void> {
    const claimed = radios.filter(({ number }) => number > 0);
    for (let from = 0; from < claimed.length; from += chunk)
      await writeLiveness(context, claimed.slice(from, from + chunk), ended);
  }
  async function flush(): Promise<void> {
    const radios = endings;
    endings = [];
    // An end that is lost only lets its token take the stream up twenty seconds longer.
    await write(radios, true);
  }
  const flushing = every({ name: 'ended streams', intervalMs: gatherMs, log }, flush);
  return {
    ended: (radio) => void endings.push(radio),
    watch: ({ all }) => every({ name: 'open streams', intervalMs: aliveEveryMs, log }, () => write([...all()], false)),
    async [Symbol.asyncDispose]() {
      await flushing[Symbol.asyncDispose]();
      await flush().catch(() => {});
    },
  };
}
