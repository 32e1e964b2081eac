import { eventually, quietLog as log } from '@acsp/testkit';
import { createStore } from '../src/index.js';

/** Holds this process's connection to a Redis that is there: before it stands, stores and limiters may work from memory. */
export async function connectedTo(redisUrl: string): Promise<AsyncDisposable> {
  const store = createStore({ redisUrl, prefix: '', onOutage: 'fail', log });
  await eventually(() => store.ready().then(() => true));
  return store;
}
