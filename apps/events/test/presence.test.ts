import { agent, type Events, startEvents } from './harness.js';

let events: Events;
beforeAll(async () => {
  events = await startEvents();
});
afterAll(() => events[Symbol.asyncDispose]());

test('an operation that is not built says so', async () => {
  expect((await events.call(agent('Ann'), 'POST /presence/heartbeat', {})).status).toBe(503);
});
