import { eventually } from '@acsp/testkit';
import pg from 'pg';
import { agent } from './harness.js';
import { presencesOf } from './presences.js';
import { channel, listen, type OpenStream, type Stations, startStations, tokenOf } from './radio.js';

const ann = agent('Ann');

let stations: Stations;
beforeAll(async () => {
  stations = await startStations([channel('global', true, [])]);
});
afterAll(() => stations[Symbol.asyncDispose]());

/** The relay of the service publishes nothing until it is disposed. */
async function holdBus(): Promise<AsyncDisposable> {
  const holder = new pg.Client({ connectionString: stations.events.databaseUrl });
  await holder.connect();
  await holder.query(`SELECT pg_advisory_lock(hashtext('bus.messages'))`);
  return { [Symbol.asyncDispose]: () => holder.end() };
}

const seenBy = ({ events }: OpenStream) =>
  events.filter(({ event }) => event === 'presence').map(({ data }) => `${data.aid} ${data.status}`);

test('an open stream shows those whom its agent watches from the answer on, however late the bus tells of the change', async () => {
  const { watch, set } = presencesOf(stations.events);
  const { body } = await watch(ann, [ann]);
  const stream = await listen(stations.events, {
    token: await tokenOf(stations.events, ann),
    channels: `global,${body.channel}`,
  });
  const others = [agent('Bob'), agent('Eve'), agent('Zoe')];
  {
    await using _held = await holdBus();
    for (const other of others) {
      await watch(ann, [other]);
      await set(other, 'busy');
    }
    await eventually(() => seenBy(stream).length === others.length);
  }
  expect(seenBy(stream)).toEqual(others.map(({ aid }) => `${aid} busy`));
  stream.cut();
});

test('a stream at another replica shows what came before it heard of the change', async () => {
  const [otto, bob] = [agent('Otto'), agent('Bert')];
  const { watch, set } = presencesOf(stations.events);
  const { body } = await watch(otto, [otto]);
  const stream = await listen(stations.replica, {
    token: await tokenOf(stations.events, otto),
    channels: `global,${body.channel}`,
  });
  {
    await using _held = await holdBus();
    await watch(otto, [bob]);
    await set(bob, 'idle');
    await set(bob, 'away');
  }
  await eventually(() => seenBy(stream).length === 2);
  expect(seenBy(stream)).toEqual([`${bob.aid} idle`, `${bob.aid} away`]);
  stream.cut();
});
