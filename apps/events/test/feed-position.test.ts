import { agent, eventually } from '@acsp/testkit';
import { startEvents } from './harness.js';
import { isInFeed, messageTo } from './radio.js';

test('the position in the bus is saved behind what was written, the last one too', async () => {
  await using events = await startEvents();
  const { aid } = agent('Ann');
  const position = async () => Number((await events.context.database.prisma.feedPosition.findFirst())?.position ?? 0);
  const before = await position();
  for (const content of ['one', 'two', 'three']) {
    await events.bus.publish('messaging', [messageTo(aid, content)]);
    await eventually(() => isInFeed(events, aid, content));
  }
  await eventually(async () => (await position()) === before + 3);
});
