import { setTimeout as delay } from 'node:timers/promises';
import { startTelemetry } from '@acsp/telemetry';
import { z } from 'zod';
import { createHealth } from './create-health.js';
import { createLogger, type Logger } from './create-logger.js';
import { createStack, type Stack } from './create-stack.js';
import type { Runtime } from './definition.js';
import { listenOn } from './listen-on.js';
import { loadConfigs } from './load-config.js';
import { type LogOutput, standardOutput } from './log-output.js';
import { scrub } from './redact.js';
import { serveOps } from './serve-ops.js';
import { settings } from './settings.js';
import { describeFailure } from './start-failure.js';

export interface RunOptions<S extends z.ZodType> {
  /** The name of the service, in logs, traces and messages. */
  readonly name: string;
  /** The schema of its environment; run loads it and reports what is wrong. */
  readonly config: S;
  /** Resolves once the service answers. Its result is disposed at the end; it closes by itself what it had opened when it fails. */
  readonly start: (runtime: Runtime<z.output<S>>) => Started | Promise<Started>;
  /** The work of `node main.js migrate`. */
  readonly migrate?: (runtime: Pick<Runtime<z.output<S>>, 'config' | 'log'>) => Promise<void>;
  /** The limit for everything between the signal and the exit; 25 s by default, inside the 30 s that Kubernetes gives. */
  readonly stopTimeoutMs?: number;
}

export interface Started extends AsyncDisposable {
  /** Resolves with the reason when it can serve no longer: the process stops and exits with 1. */
  readonly failed?: Promise<Error>;
}

const variables = z.object({
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** Unset: no ops door. */
  OPS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  OPS_HOST: settings.host.optional(),
  /** How long a load balancer needs to see that the process is no longer ready. */
  DRAIN_DELAY_MS: z.coerce.number().int().min(0).max(20_000).default(0),
});

/**
 * The main of a process. It reads the configuration, opens the ops door, starts the service and stops it on SIGTERM or SIGINT: not ready,
 * DRAIN_DELAY_MS, the service, the ops door, traces. Exit codes: 0 after a clean stop; 1 when the start or the running service fails (one
 * sentence on standard error), a step of the stop fails or the stop takes too long, an error is caught by nobody, or another signal comes
 * a second later.
 */
export function run<S extends z.ZodType>(options: RunOptions<S>): void {
  const output = standardOutput();
  process.stderr.on('error', () => {});
  const end = async (code: number) => {
    await output.flush(flushTimeoutMs);
    process.exit(code);
  };
  live(options, output).then(end, (error: unknown) => {
    say(`${options.name} could not start`, error);
    return end(1);
  });
}

const say = (what: string, why: unknown) => process.stderr.write(`${what}: ${scrub(describeFailure(why).sentence)}\n`);

const forever = new Promise<never>(() => {});

/** A reader that takes no more lines does not keep the process from ending. */
const flushTimeoutMs = 1_000;

async function live<S extends z.ZodType>(options: RunOptions<S>, destination: LogOutput) {
  const { name, config: schema, start, stopTimeoutMs = 25_000 } = options;
  const [own, config] = loadConfigs([variables, schema]);
  const log = createLogger({ name, level: own.LOG_LEVEL, destination });
  exitOnUncaught(log);
  if (options.migrate !== undefined && process.argv[2] === 'migrate') {
    await options.migrate({ config, log });
    return 0;
  }
  const signal = firstSignal();

  const health = createHealth();
  let ready = false;
  health.check('process', () => {
    if (!ready) throw new Error('starting');
  });
  const stack = createStack({ log, stepTimeoutMs: stopTimeoutMs });
  stack.use(await startTelemetry(name));
  if (own.OPS_PORT !== undefined) {
    const door = { port: own.OPS_PORT, host: own.OPS_HOST, health };
    stack.use(await listenOn('OPS_HOST', () => serveOps(door)));
  }

  const starting = startLogged(log, async () => {
    const started = stack.use(await start({ config, log, health }));
    ready = true;
    return started;
  });
  const failure = starting.then(({ failed }) => failed ?? forever);
  const reason = await Promise.race([signal, failure]);
  const deadline = exitAfter(stopTimeoutMs, log);
  const failed = reason instanceof Error;
  if (failed) say(`${name} stops`, reason);
  log.info(failed ? { err: reason } : { signal: reason }, 'stopping');
  health.drain();
  if (ready) await delay(own.DRAIN_DELAY_MS);
  await starting;
  const code = await stop(stack);
  clearTimeout(deadline);
  log.info('stopped');
  return failed ? 1 : code;
}

async function startLogged<S>(log: Logger, start: () => Promise<S>): Promise<S> {
  try {
    const started = await start();
    log.info('started');
    return started;
  } catch (error) {
    // A fault of the surroundings is said in one sentence by run; a fault of ours needs its stack.
    if (!describeFailure(error).known || log.isLevelEnabled('debug')) log.fatal({ err: error }, 'the start failed');
    throw error;
  }
}

async function stop(stack: Stack): Promise<number> {
  try {
    await stack[Symbol.asyncDispose]();
    return 0;
  } catch {
    return 1;
  }
}

/** Below npm one Ctrl-C comes twice: from the terminal and from npm, which passes it on. */
const sameSignalMs = 1_000;

/** A second signal ends the process at once: its sender does not want to wait. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      if (first === undefined) {
        first = { signal, at: Date.now() };
        resolve(signal);
      } else if (signal !== first.signal || Date.now() - first.at > sameSignalMs) process.exit(1);
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}

function exitAfter(limitMs: number, log: Logger): NodeJS.Timeout {
  return setTimeout(() => {
    log.error(`the stop took longer than ${limitMs} ms`);
    process.exit(1);
  }, limitMs);
}

function exitOnUncaught(log: Logger): void {
  const exit = (error: unknown) => {
    log.fatal({ err: error }, 'nobody caught this error');
    process.exit(1);
  };
  process.on('uncaughtException', exit).on('unhandledRejection', exit);
}
