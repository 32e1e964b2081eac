import type { Stack } from '@acsp/service';
import { drive, type Send } from '../driver.js';
import { makeAccounts } from '../scenarios/fixtures.js';
import { type Account, nth } from '../scenarios/scenario.js';
import { startDistributed } from '../sides/distributed.js';
import type { Environment } from '../sides/side.js';
import { directDoor, gatewayDoor } from './doors.js';
import { collectGarbage, globalId, measureStreams, type StreamFigures } from './measure-streams.js';

/** So many streams on one events process, and as many through the gateway as its open files allow, two a stream. */
export async function runStreams(environment: Environment, streams: number, stack: Stack): Promise<StreamFigures[]> {
  const side = stack.use(await startDistributed(environment, collectGarbage));
  const accounts = await makeAccounts(side.url, streams);
  await joinGlobal(side.url, nth(accounts, 0));
  const { logDir } = environment;
  const direct = await measureStreams(accounts, directDoor(side), { side, logDir });
  process.stderr.write(
    `direct: ${direct.residentKiB.toFixed(1)} KiB a stream, a post ${Math.min(...direct.postMs).toFixed(0)} ms\n`,
  );
  const most = Math.floor((openFiles() - spare) / 2);
  return [direct, await measureStreams(accounts.slice(0, most), gatewayDoor(side), { side, logDir })];
}

/** Files and sockets that a process has besides its streams. */
const spare = 200;

/** The limit of this process, which its children have too: Node raises the soft limit to the hard one. */
function openFiles(): number {
  const report = process.report.getReport() as unknown as { userLimits: { open_files: { hard: number | string } } };
  const { hard } = report.userLimits.open_files;
  return typeof hard === 'number' ? hard : Number.MAX_SAFE_INTEGER;
}

async function joinGlobal(url: string, { aid, loginKey }: Account): Promise<void> {
  const body = JSON.stringify({ aid, channel_id: globalId });
  const journey = () => async (send: Send) => {
    await send({ method: 'POST', path: '/api/acsp/channels/join', loginKey, body, expect: 200 });
    return false;
  };
  await drive({ url, connections: 1, seconds: 10, journey });
}
