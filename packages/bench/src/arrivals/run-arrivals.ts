import type { Stack } from '@acsp/service';
import type { Options } from '../options.js';
import { makeAccounts } from '../scenarios/fixtures.js';
import { startBaseline } from '../sides/baseline.js';
import { startDistributed } from '../sides/distributed.js';
import type { Environment, Side } from '../sides/side.js';
import { startStandalone } from '../sides/standalone.js';
import { type Aimed, type Arrivals, measureArrivals } from './measure-arrivals.js';
import { message, task, throughNats, throughService, untilAnswered } from './ways.js';

const rates = [100, 500];
/** A worker that waits is one that the queue is empty for. */
const tasksPerSecond = 50;

/** Messages and tasks on their way to the streams of those whom they are for, in both forms, beside a message that only NATS carries and a request to the baseline. */
export async function runArrivals(environment: Environment, options: Options, stack: Stack): Promise<Arrivals[]> {
  return [
    ...(await throughBroker(environment, options)),
    ...(await throughBaseline(await startOn(stack, startBaseline('events', 2, environment)), options)),
    ...(await throughForm('standalone', await startOn(stack, startStandalone(environment)), options)),
    ...(await throughForm('distributed', await startOn(stack, startDistributed(environment)), options)),
  ];
}

const startOn = async <T extends Side>(stack: Stack, starting: Promise<T>) => stack.use(await starting);

async function throughBroker({ servers: { nats } }: Environment, { pace }: Options): Promise<Arrivals[]> {
  await using way = await throughNats(nats.url);
  return await inTurn(
    rates.map((perSecond) => ({ title: 'NATS alone', perSecond })),
    (aimed) => measureArrivals(aimed, way, { servers: [nats], pace }),
  );
}

async function throughBaseline({ url, servers }: Side, { pace }: Options): Promise<Arrivals[]> {
  await using way = untilAnswered(url, message);
  return await inTurn(
    rates.map((perSecond) => ({ title: 'baseline: a message is answered', perSecond })),
    (aimed) => measureArrivals(aimed, way, { servers, pace }),
  );
}

async function throughForm(form: string, { url, servers }: Side, { pace }: Options): Promise<Arrivals[]> {
  const accounts = await makeAccounts(url);
  const measured = async (deed: typeof message, rows: readonly Aimed[]) => {
    await using way = await throughService(url, accounts, deed);
    return await inTurn(rows, (row) => measureArrivals(row, way, { servers, pace }));
  };
  return [
    ...(await measured(
      message,
      rates.map((perSecond) => ({ title: `${form}: a message is sent`, perSecond })),
    )),
    ...(await measured(task, [{ title: `${form}: a task is opened`, perSecond: tasksPerSecond }])),
  ];
}

async function inTurn<T, U>(list: readonly T[], run: (item: T) => Promise<U>): Promise<U[]> {
  const results: U[] = [];
  for (const item of list) results.push(await run(item));
  return results;
}
