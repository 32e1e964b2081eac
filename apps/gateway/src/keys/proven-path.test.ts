import { createProvenPath } from './proven-path.js';

/** A path whose probes come back when the test says so. */
function setUp({ fails = false } = {}) {
  const sent: string[] = [];
  const time = { now: 1_000 };
  const path = createProvenPath({
    elapsedMs: () => time.now,
    prove: async (nonce) => {
      sent.push(nonce);
      if (fails) throw new Error('no answer');
    },
  });
  path.setLive(true);
  const send = () => {
    path.probe();
    return sent.at(-1) ?? '';
  };
  return { path, sent, time, send };
}

test('is proven for 700 ms from the moment at which the probe was sent', () => {
  const { path, time, send } = setUp();
  const nonce = send();
  expect(path.isProven()).toBe(false);
  time.now += 300;
  path.see(nonce);
  expect(path.isProven()).toBe(true);
  time.now += 400;
  expect(path.isProven()).toBe(true);
  time.now += 1;
  expect(path.isProven()).toBe(false);
});

test('is proven by an event whose call failed', async () => {
  const { path, send } = setUp({ fails: true });
  path.see(send());
  expect(path.isProven()).toBe(true);
});

test('sends a probe each 250 ms at most, and none without traffic', () => {
  const { sent, time, send } = setUp();
  send();
  time.now += 249;
  send();
  expect(sent).toHaveLength(1);
  time.now += 1;
  send();
  expect(sent).toHaveLength(2);
  time.now += 10_000;
  expect(sent).toHaveLength(2);
});

test('an older probe that comes late does not shorten the proof', () => {
  const { path, time, send } = setUp();
  const first = send();
  time.now += 250;
  const second = send();
  path.see(second);
  path.see(first);
  time.now += 700;
  expect(path.isProven()).toBe(true);
});

test('is not proven by the probe of another gateway, nor by one seen before', () => {
  const { path, time, send } = setUp();
  path.see('somebody else');
  expect(path.isProven()).toBe(false);
  const nonce = send();
  path.see(nonce);
  time.now += 701;
  path.see(nonce);
  expect(path.isProven()).toBe(false);
});

test('ends with the connection, whose probes count no longer', () => {
  const { path, sent, send } = setUp();
  const nonce = send();
  path.see(nonce);
  path.setLive(false);
  expect(path.isProven()).toBe(false);
  send();
  expect(sent).toHaveLength(1);
  path.setLive(true);
  path.see(nonce);
  expect(path.isProven()).toBe(false);
  path.see(send());
  expect(path.isProven()).toBe(true);
});
