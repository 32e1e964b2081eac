import { setTimeout as pause } from 'node:timers/promises';
import { readEvents, type SeenEvent } from '@acsp/testkit';
import type { TestAgent } from '../harness.js';

/** An agent's stream that is cut again and again, and resumes where it was. */
export interface Listener {
  readonly agent: TestAgent;
  /** Everything that has come with an id, but `connected`. */
  readonly seen: SeenEvent[];
  /** How often it was open. */
  opened(): number;
  stop(): Promise<void>;
}

interface Listening {
  /** The addresses of the API that it takes in turn, as they are now. */
  readonly urls: () => readonly string[];
  readonly token: string;
  readonly channels: string;
}

const longestMs = 1_500;
const retryMs = 50;

export function startListener(agent: TestAgent, { urls, token, channels }: Listening): Listener {
  const seen: SeenEvent[] = [];
  const stopping = new AbortController();
  let [lastId, opened]: [string | undefined, number] = [undefined, 0];

  async function once(url: string, byHeader: boolean): Promise<boolean> {
    const cutting = new AbortController();
    const signal = AbortSignal.any([cutting.signal, stopping.signal]);
    const query = new URLSearchParams({ token, channels });
    if (lastId !== undefined && !byHeader) query.set('last_event_id', lastId);
    const headers = lastId !== undefined && byHeader ? { 'last-event-id': lastId } : undefined;
    const response = await fetch(`${url}/api/acsp/events/radio?${query}`, { headers, signal });
    if (!response.ok) {
      const text = await response.text();
      if (response.status < 500) throw new Refused(text);
      return false;
    }
    opened += 1;
    setTimeout(() => cutting.abort(), Math.random() * longestMs);
    const reader = readEvents(response.body as unknown as AsyncIterable<Uint8Array>);
    await reader.ended;
    seen.push(...reader.events.filter(({ id, event }) => id !== undefined && event !== 'connected'));
    lastId = reader.lastId() ?? lastId;
    return true;
  }

  async function run(): Promise<void> {
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      const choices = urls();
      const url = choices[Math.floor(Math.random() * choices.length)] ?? '';
      const served = await once(url, turn % 2 === 0).catch((error) => {
        if (error instanceof Refused) throw error;
        return false;
      });
      if (!served) await pause(retryMs);
    }
  }

  const running = run();
  running.catch(() => {});
  return {
    agent,
    seen,
    opened: () => opened,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** The service has refused a stream that it should have taken up. */
class Refused extends Error {}
