import { newId } from '@acsp/database';
import { describeWith, eventually, quietLog as log } from '@acsp/testkit';
import { connect } from '@nats-io/transport-node';
import { type Bus, jetStreamBus } from '../src/index.js';
import { leaderElected } from '../src/jet-stream/streams.js';
import { type NatsBroker, natsBroker } from './brokers.js';

describeWith('own nats', 'a live copy that does not come', () => {
  let broker: NatsBroker;
  let bus: Bus;

  beforeAll(async () => {
    broker = await natsBroker();
    bus = jetStreamBus({ url: broker.address.natsUrl ?? '', log });
    await eventually(() => bus.ready());
  });
  afterAll(async () => {
    await bus[Symbol.asyncDispose]();
    await broker[Symbol.asyncDispose]();
  });

  const append = (feed: string, data: string) =>
    bus.feed.append([{ feed, id: newId(), event: 'message', data, created_at: new Date() }]);

  /** Notes the messages and gaps of a listener, in order. */
  async function listen(feed: string): Promise<readonly string[]> {
    const heard: string[] = [];
    await bus.feed.subscribe(feed, { onMessage: ({ data }) => heard.push(data), onGap: () => heard.push('gap') });
    return heard;
  }

  test('is a gap to its listeners before they get the next message of their feed', async () => {
    const [heard, other] = [await listen('agent:a'), await listen('agent:b')];
    await append('agent:a', '1');
    await append('agent:b', '1');
    await eventually(() => heard.length === 1);
    const { republish } = await broker.ask(async ({ streams }) => (await streams.info('FEED')).config);
    await broker.ask(({ streams }) => streams.update('FEED', { republish: { src: 'none', dest: 'live.none' } }));
    await append('agent:a', '2');
    await broker.ask(({ streams }) => streams.update('FEED', { republish }));
    await append('agent:a', '3');
    await append('agent:b', '2');
    await append('agent:a', '4');
    await eventually(() => heard.length >= 4);
    expect(heard).toEqual(['1', 'gap', '3', '4']);
    expect(other).toEqual(['1', '2']);
  });

  test('may be the last of a leader that died, so that all hear of a gap when another is elected', async () => {
    const heards = [await listen('agent:c'), await listen('agent:c'), await listen('channel:d')];
    const nats = await connect({ servers: broker.address.natsUrl ?? '' });
    nats.publish(leaderElected, '{}');
    await nats.drain();
    await eventually(() => heards.every(({ length }) => length > 0));
    expect(heards).toEqual([['gap'], ['gap'], ['gap']]);
  });
});
