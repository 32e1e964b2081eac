import { anonymous, type Identity, recordOf, refused, registered, startIdentity } from './harness.js';

let identity: Identity;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity[Symbol.asyncDispose]());

test('attestations are not served yet', async () => {
  const [ann, bob] = [await registered(identity), await registered(identity)];
  const statement = { attestation_type: 'trust', content: 'Good', target_aid: bob.aid };
  const rating = { attester_aid: ann.aid, subject_aid: bob.aid, session_id: 's', rating: 5, category: 'speed' };
  const answers = [
    await identity.call(ann, 'POST /attest', { aid: ann.aid, ...statement }),
    await identity.call(ann, 'POST /attest', rating),
    await identity.call(ann, 'POST /revoke', { attestation_id: '019a0000-0000-7000-8000-000000000000' }),
    await identity.call(anonymous, `GET /attestations?aid=${bob.aid}`),
  ];
  for (const answer of answers) expect(answer).toMatchObject(refused('SERVICE_UNAVAILABLE'));
});

test('a revocation that names an attestation leaves the agent alone', async () => {
  const agent = await registered(identity);
  const body = { aid: agent.aid, attestation_id: '019a0000-0000-7000-8000-000000000000' };
  expect(await identity.call(agent, 'POST /revoke', body)).toMatchObject(refused('SERVICE_UNAVAILABLE'));
  expect(await recordOf(identity, agent)).toMatchObject({ status: 'active' });
});
