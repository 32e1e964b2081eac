import {
  anonymous,
  type Identity,
  newcomer,
  recordOf,
  refused,
  register,
  registered,
  startIdentity,
} from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

const codePoints = (name: string) => [...name].map((char) => char.codePointAt(0)?.toString(16)).join(' ');

const refusedNames = [
  ...['a\nb', 'a\rb', 'a\u0085b', 'a\u2028b', 'a\u2029b'],
  ...['a\tb', 'a\u0000b', 'a\u001bb', 'a\u007fb', 'a\u009fb'],
  ...['a\u202eb', 'a\u2066b', 'a\u2069b'],
  ...['\u200b', '\u2060\ufeff', '\u2800', '\u3164', '\u00ad ', ' '],
  ...['acsp', 'ACSP', ' Acsp ', 'ac\u200bsp', '\uff41\uff43\uff53\uff50', '\u0430csp'],
].map((name) => [codePoints(name), name] as const);

test.each(refusedNames)('refuses the name %s wherever an agent is named', async (_points, name) => {
  const agent = await registered(identity);
  const { aid, publicKey: ed25519_pubkey } = newcomer();
  const capabilities = ['search'];
  const answers = [
    await register(identity, newcomer(), { agent_name: name }),
    await identity.call({ ...newcomer(), aid }, 'POST /register', {
      ...{ aid, ed25519_pubkey, capabilities: 'search', agent_name: name },
    }),
    await identity.call(anonymous, 'POST /agent-init', { agent_name: name, capabilities }),
    await identity.call(anonymous, 'POST /quickstart', { agent_name: name, capabilities }),
    await identity.call(anonymous, 'POST /quickstart', { name, capabilities: 'search' }),
    await identity.call(agent, 'POST /profile/update', { aid: agent.aid, agent_name: name }),
  ];
  for (const answer of answers) expect(answer).toMatchObject(refused('INVALID_NAME'));
  expect(await recordOf(identity, agent)).toMatchObject({ agent_name: 'Ann' });
});

test.each(['acsp-2', "O'Neill <b>", 'Zoë 東京 😀', 'עברית', 'a\u200db'])(
  'takes the name %j to the letter',
  async (name) => {
    const agent = await registered(identity, { agent_name: name });
    expect(await recordOf(identity, agent)).toMatchObject({ agent_name: name });
  },
);

test('keeps line breaks and overrides of a description, which is no name', async () => {
  const description = 'One\nTwo \u202eeerht';
  const agent = await registered(identity, { description });
  expect(await recordOf(identity, agent)).toMatchObject({ description });
});
