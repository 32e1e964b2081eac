import { createStack, type Stack } from '@acsp/service';
import { runArrivals } from './arrivals/run-arrivals.js';
import { type Comparison, compare } from './compare.js';
import { measureCycles } from './grpc-cycles.js';
import type { Options } from './options.js';
import { arrivalTable, comparisonTable, cycleTable, ratioOf, streamTable } from './report.js';
import { createTask } from './scenarios/create-task.js';
import { cycle } from './scenarios/cycle.js';
import { makeAccounts, makeFixtures } from './scenarios/fixtures.js';
import { inbox, sendMessage } from './scenarios/messages.js';
import { board, ownTasks, taskDetails } from './scenarios/read-tasks.js';
import { register } from './scenarios/register.js';
import { startBaseline } from './sides/baseline.js';
import { startDistributed } from './sides/distributed.js';
import type { Environment, Side } from './sides/side.js';
import { startStandalone } from './sides/standalone.js';
import { runStreams } from './streams/run-streams.js';

export const scenarios = [taskDetails, board, ownTasks, createTask, cycle, register, sendMessage, inbox];

type Run = (environment: Environment, options: Options, stack: Stack) => Promise<string>;

/** Everything in one process, beside a baseline of one. */
const runStandalone: Run = async (environment, options, stack) => {
  const side = stack.use(await startStandalone(environment));
  const baseline = stack.use(await startBaseline('standalone', 1, environment));
  return comparisonTable('Standalone: one process', await compareAll(side, baseline, environment, options));
};

/** A process each, beside a baseline of two: what a request passes through. */
const runDistributed: Run = async (environment, options, stack) => {
  const side = stack.use(await startDistributed(environment));
  const baseline = stack.use(await startBaseline('distributed', 2, environment));
  return comparisonTable(
    'Distributed: gateway, identity, tasks and messaging',
    await compareAll(side, baseline, environment, options),
  );
};

const runGrpc: Run = async (environment, options, stack) => {
  const side = stack.use(await startDistributed(environment));
  return cycleTable(await measureCycles(side, options.pace, environment));
};

const runEvents: Run = async (environment, options, stack) =>
  arrivalTable(await runArrivals(environment, options, stack));

const runOpenStreams: Run = async (environment, { streams }, stack) =>
  streamTable(await runStreams(environment, streams, stack));

export const forms: Readonly<Record<string, Run>> = {
  standalone: runStandalone,
  distributed: runDistributed,
  grpc: runGrpc,
  events: runEvents,
};

/** The tables of the forms that are asked for, each as soon as it is there. */
export async function* runForms(environment: Environment, options: Options, stack: Stack): AsyncGenerator<string> {
  if (options.streams > 0) {
    yield await runOpenStreams(environment, options, stack);
    return;
  }
  for (const [name, run] of Object.entries(forms)) {
    if (!options.wants(name)) continue;
    const own = stack.use(createStack());
    yield await run(environment, options, own);
    await own[Symbol.asyncDispose]();
  }
}

async function compareAll(
  side: Side,
  baseline: Side,
  { servers }: Environment,
  { pace, wants }: Options,
): Promise<Comparison[]> {
  const accounts = await makeAccounts(side.url);
  const acsp = { side, fixtures: await makeFixtures(side, accounts) };
  const other = { side: baseline, fixtures: await makeFixtures(baseline, accounts) };
  await servers.postgres.analyze();
  const comparisons: Comparison[] = [];
  for (const scenario of scenarios) {
    if (!wants(scenario.name)) continue;
    const comparison = await compare(scenario, acsp, other, pace);
    comparisons.push(comparison);
    process.stderr.write(`${scenario.title}: ${ratioOf(comparison).toFixed(2)} of the baseline\n`);
  }
  return comparisons;
}
