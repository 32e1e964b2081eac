import { createLane } from './lane.js';

/** A run that ends when it is told to. */
function runs() {
  const ends: (() => void)[] = [];
  return { ends, run: () => new Promise<void>((resolve) => ends.push(resolve)) };
}
const settled = () => new Promise(setImmediate);
const options = { width: 2, maxWaiting: 2, maxWaitMs: 60_000, detail: 'Too many' };
const busy = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2, message: 'Too many' };

test('so many run at a time, others in their order, and one too many is refused', async () => {
  const lane = createLane(options);
  const { ends, run } = runs();
  const all = [lane(run), lane(run), lane(run), lane(run)];
  await settled();
  expect([ends.length, lane.running(), lane.waiting()]).toEqual([2, 2, 2]);
  await expect(lane(run)).rejects.toMatchObject(busy);
  ends[1]?.();
  await all[1];
  await settled();
  expect([ends.length, lane.running(), lane.waiting()]).toEqual([3, 2, 1]);
  for (let n = 0; n < 4; n += 1) {
    ends[n]?.();
    await settled();
  }
  await Promise.all(all);
  expect([lane.running(), lane.waiting()]).toEqual([0, 0]);
});

test('of those that wait the one of the least cost comes first', async () => {
  const lane = createLane({ ...options, width: 1, maxWaiting: 3 });
  const order: number[] = [];
  const { ends, run } = runs();
  const first = lane(run);
  const rest = [700, 0, 300].map((cost) => lane(async () => void order.push(cost), cost));
  ends[0]?.();
  await Promise.all([first, ...rest]);
  expect(order).toEqual([0, 300, 700]);
});

test('one that waits too long is refused and does not run, and one that fails makes room', async () => {
  const lane = createLane({ ...options, width: 1, maxWaitMs: 1 });
  const { ends, run } = runs();
  const first = lane(run);
  await expect(lane(run)).rejects.toMatchObject(busy);
  ends[0]?.();
  await first;
  await expect(lane(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect([ends.length, lane.running()]).toEqual([1, 0]);
});
