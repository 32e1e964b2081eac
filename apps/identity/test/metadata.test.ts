import {
  anonymous,
  type Identity,
  peerOf,
  type Registered,
  recordOf,
  refused,
  registered,
  startIdentity,
} from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

const update = (agent: Registered, metadata: string) =>
  identity.call(agent, 'POST /profile/update', `{"aid":"${agent.aid}","metadata":${metadata}}`);
const textOf = async (agent: Registered) => JSON.stringify((await recordOf(identity, agent)).metadata);

const letters = [
  ['the order of its members', '{"b":1,"a":{"z":1,"y":[2,{"d":1,"c":2}]}}'],
  ['the size of a number', `{"n":[${Array(500).fill('1e308').join()}]}`],
  ['empty and null members', '{"":"","null":null,"list":[],"object":{}}'],
  ['texts that show nothing', '{"text":" \\u200b\\n\\t","<b>":"</script>","quote":"\'\\"\\\\"}'],
  ['members that other serialisers read as types', '{"a":{"$type":"Json","value":"{}"},"$type":"DateTime","toJSON":1}'],
  ['sixteen levels', `${'{"a":'.repeat(16)}1${'}'.repeat(16)}`],
] as const;

test.each(letters)('keeps %s, registered or merged', async (_what, text) => {
  const expected = JSON.stringify(JSON.parse(text));
  const first = await registered(identity, { metadata: JSON.parse(text) });
  expect(await textOf(first)).toBe(expected);

  const second = await registered(identity);
  const { body } = await update(second, text);
  expect(JSON.stringify(body.agent.metadata)).toBe(expected);
  expect(await textOf(second)).toBe(expected);
  await update(second, '{"last":true}');
  expect(await textOf(second)).toBe(JSON.stringify({ ...JSON.parse(text), last: true }));

  using peer = peerOf(identity);
  const { agents } = await peer.batchGetAgents({ aids: [first.aid] });
  expect(agents[0]?.metadata).toEqual(JSON.parse(text));
});

test.each([
  ['17 levels', `${'{"a":'.repeat(17)}1${'}'.repeat(17)}`],
  ['10,000 levels', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ['a member __proto__', '{"__proto__":{"polluted":true}}'],
  ['a nested member __proto__', '{"a":[{"__proto__":1}]}'],
  ['a number beyond a double', '{"n":1e400}'],
  ['NUL', '{"a":["\\u0000"]}'],
  ['an unpaired surrogate', '{"\\ud800":1}'],
  ['4097 bytes', `{"a":"${'x'.repeat(4089)}"}`],
  ['an array', '[]'],
])('refuses metadata with %s and changes nothing', async (_name, metadata) => {
  const agent = await registered(identity, { metadata: { a: 1 } });
  expect(await update(agent, metadata)).toMatchObject(refused('INVALID_METADATA'));
  expect(await textOf(agent)).toBe('{"a":1}');
  const body = `{"agent_name":"Ann","capabilities":["search"],"metadata":${metadata}}`;
  for (const path of ['agent-init', 'quickstart']) {
    expect(await identity.call(anonymous, `POST /${path}`, body)).toMatchObject(refused('INVALID_METADATA'));
  }
});
