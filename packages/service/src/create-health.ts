import { within } from '@acsp/time';

export interface Readiness {
  readonly ready: boolean;
  /** For each check `ok`, or in words what is wrong. */
  readonly checks: Readonly<Record<string, string>>;
}

export interface Health {
  /** Adds a dependency; `probe` rejects while it is down and has 2 s to answer. Several checks with one name all count. */
  check(name: string, probe: () => void | Promise<void>): void;
  /** Not ready from now on, whatever the checks say: the load balancer is to look elsewhere. */
  drain(): void;
  ready(): Promise<Readiness>;
}

const probeTimeoutMs = 2_000;

export function createHealth(): Health {
  const probes: { readonly name: string; readonly probe: () => void | Promise<void> }[] = [];
  let draining = false;
  let running: Promise<Readiness> | undefined;

  async function askAll(): Promise<Readiness> {
    const answers = await Promise.all(probes.map(async ({ name, probe }) => [name, await ask(name, probe)] as const));
    const checks: Record<string, string> = {};
    for (const [name, answer] of answers) if ((checks[name] ?? 'ok') === 'ok') checks[name] = answer;
    return { ready: Object.values(checks).every((answer) => answer === 'ok'), checks };
  }

  return {
    check: (name, probe) => void probes.push({ name, probe }),
    drain: () => {
      draining = true;
    },
    async ready() {
      // Callers that ask at the same time share one round of probes.
      running ??= askAll().finally(() => {
        running = undefined;
      });
      const { ready, checks } = await running;
      return draining ? { ready: false, checks: { ...checks, process: 'draining' } } : { ready, checks };
    },
  };
}

async function ask(name: string, probe: () => void | Promise<void>): Promise<string> {
  try {
    await within(probeTimeoutMs, name, (async () => probe())());
    return 'ok';
  } catch (error) {
    return (error instanceof Error && error.message) || 'failed';
  }
}
