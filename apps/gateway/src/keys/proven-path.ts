import { randomUUID } from 'node:crypto';

/**
 * The heartbeat of the path from identity's outbox to this process. The gateway sends a nonce, and identity emits it as an event: when it is seen,
 * every change has been seen that was committed before the nonce was sent.
 */
export interface ProvenPath {
  /** Sends a nonce where the newest is older than 250 ms. Nobody waits for it. */
  probe(): void;
  /** Takes a nonce that came out of the bus; those of other gateways prove nothing here. */
  see(nonce: string): void;
  /** `false`: no events come at all, so probes would be lost. */
  setLive(live: boolean): void;
  /** Answers true when everything has been seen that was committed until 700 ms ago. */
  isProven(): boolean;
}

export interface ProvenPathOptions {
  readonly elapsedMs: () => number;
  readonly prove: (nonce: string) => Promise<unknown>;
}

const probeEveryMs = 250;
/** Leaves 300 ms of the second in which a revoked credential must end. */
const provenForMs = 700;

export function createProvenPath({ elapsedMs, prove }: ProvenPathOptions): ProvenPath {
  let live = false;
  let sentAt = Number.NEGATIVE_INFINITY;
  let provenAt = Number.NEGATIVE_INFINITY;
  const pending = new Map<string, number>();

  function forgetLate(now: number): void {
    for (const [nonce, at] of pending) if (now - at > provenForMs) pending.delete(nonce);
  }

  return {
    probe() {
      const now = elapsedMs();
      if (!live || now - sentAt < probeEveryMs) return;
      forgetLate(now);
      const nonce = randomUUID();
      sentAt = now;
      pending.set(nonce, now);
      // A call that failed may have emitted its event all the same.
      prove(nonce).catch(() => {});
    },
    see(nonce) {
      const at = pending.get(nonce);
      if (at === undefined) return;
      pending.delete(nonce);
      provenAt = Math.max(provenAt, at);
    },
    setLive(isLive) {
      live = isLive;
      sentAt = provenAt = Number.NEGATIVE_INFINITY;
      pending.clear();
    },
    isProven: () => elapsedMs() - provenAt <= provenForMs,
  };
}
