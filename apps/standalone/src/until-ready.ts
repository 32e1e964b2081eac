import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '@acsp/bus';

const patienceMs = 15_000;

/** Resolves once the bus can be used: its tables may still be in the making. Rejects with its own reason when that takes too long. */
export async function untilReady(bus: Bus): Promise<void> {
  for (const deadline = Date.now() + patienceMs; ; ) {
    try {
      return await bus.ready();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await pause(20);
  }
}
