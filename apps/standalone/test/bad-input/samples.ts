import { aidOf, generateKeyPair } from '@acsp/crypto';
import { presence } from './events-samples.js';
import { messaging, threads } from './messaging-samples.js';
import { radio } from './radio-samples.js';
import { type Cast, type Make, uuid } from './sample.js';

const texts = { title: 'Count the stones', description: 'All of them, twice' };

async function openTask({ world, ann }: Cast, fields: object = {}): Promise<string> {
  const { body } = await world.call(ann, 'POST /tasks', { ...texts, ...fields });
  return body.task.id;
}

async function claimedTask(cast: Cast): Promise<string> {
  const id = await openTask(cast);
  await cast.world.call(cast.bob, 'POST /tasks/claim', { task_id: id });
  return id;
}

const tasks: Record<string, Make> = {
  createTask: async (cast) => ({
    agent: cast.ann,
    fields: {
      ...texts,
      aid: cast.ann.aid,
      requirements: ['a steady hand'],
      tags: ['stones'],
      priority: 'high',
      deadline: '2030-01-01T00:00:00Z',
      ttl_minutes: 60,
      target_aid: cast.bob.aid,
      max_claims: 2,
      workspace_id: uuid,
      group_id: uuid,
      parent_id: await openTask(cast),
      metadata: { a: 1 },
    },
  }),
  listTasks: ({ ann }) => ({
    agent: ann,
    fields: {
      aid: ann.aid,
      status: 'open,claimed',
      priority: 'high',
      parent_id: uuid,
      created_by: ann.aid,
      assigned_to: ann.aid,
      workspace_id: uuid,
      sort: 'created_at',
      limit: '10',
      offset: '0',
      cursor: Buffer.from(JSON.stringify(['created_at', '2030-01-01T00:00:00.000Z', uuid])).toString('base64url'),
    },
  }),
  getTask: async (cast) => ({ agent: cast.bob, fields: { aid: cast.bob.aid, id: await openTask(cast) } }),
  claimTask: async (cast) => ({
    agent: cast.bob,
    fields: { aid: cast.bob.aid, task_id: await openTask(cast), message: 'I count well', eta_minutes: 5 },
  }),
  resolveClaim: async (cast) => {
    const id = await openTask(cast, { max_claims: 2 });
    const { body } = await cast.world.call(cast.bob, 'POST /tasks/claim', { task_id: id });
    return { agent: cast.ann, fields: { aid: cast.ann.aid, task_id: id, claim_id: body.claim.id, decision: 'accept' } };
  },
  updateTask: async (cast) => ({
    agent: cast.bob,
    fields: { aid: cast.bob.aid, task_id: await claimedTask(cast), action: 'start', comment: 'Off I go' },
  }),
  submitTask: async (cast) => ({
    agent: cast.bob,
    fields: {
      aid: cast.bob.aid,
      task_id: await claimedTask(cast),
      result_text: 'Too many',
      result: { stones: null },
      failed: true,
      failure_reason: 'It got dark',
    },
  }),
  delegateTask: async (cast) => ({
    agent: cast.ann,
    fields: {
      ...texts,
      aid: cast.ann.aid,
      parent_id: await openTask(cast),
      requirements: ['a steady hand'],
      target_aid: cast.bob.aid,
      priority: 'low',
      metadata: { a: 1 },
    },
  }),
  postMessage: async (cast) => ({
    agent: cast.ann,
    fields: {
      aid: cast.ann.aid,
      task_id: await openTask(cast),
      content: 'How many so far?',
      msg_type: 'question',
      metadata: { a: 1 },
    },
  }),
};

const profile = {
  description: 'Counts stones',
  owner_id: 'quarry-7',
  endpoint: 'https://example.com/hook',
  metadata: { a: 1 },
};

function newcomer() {
  const keys = generateKeyPair();
  return { keys, aid: aidOf(keys.publicKey) };
}

const identity: Record<string, Make> = {
  register: () => {
    const { keys, aid } = newcomer();
    return {
      agent: keys,
      fields: { ...profile, aid, public_key: keys.publicKey, agent_name: 'Cleo', capabilities: ['counting'] },
    };
  },
  registerCompact: () => {
    const { keys, aid } = newcomer();
    return {
      agent: keys,
      fields: { ...profile, aid, ed25519_pubkey: keys.publicKey, agent_name: 'Cleo', capabilities: 'counting, stones' },
    };
  },
  initAgent: async ({ world }) => {
    const agent = await world.register('Dora');
    return {
      agent,
      fields: { aid: agent.aid, public_key: agent.publicKey, capabilities: ['counting'], description: 'Counts stones' },
    };
  },
  createAgent: () => ({
    fields: { agent_name: 'Emil', capabilities: ['counting'], description: 'Counts stones', metadata: { a: 1 } },
  }),
  quickstart: () => ({ fields: { ...profile, agent_name: 'Finn', capabilities: ['counting'] } }),
  quickstartCompact: () => ({ fields: { ...profile, name: 'Finn', capabilities: 'counting, stones' } }),
  updateProfile: async ({ world }) => {
    const agent = await world.quickstart('Gero');
    const { owner_id: _fixed, ...changes } = profile;
    return { agent, fields: { ...changes, aid: agent.aid, agent_name: 'Gera', capabilities: ['counting'] } };
  },
  revokeAgent: async ({ world }) => {
    const agent = await world.register('Hugo');
    return { agent, fields: { aid: agent.aid, public_key: agent.publicKey } };
  },
  deleteAccount: async ({ world }) => {
    const agent = await world.quickstart('Ines');
    return { agent, fields: { aid: agent.aid, confirm: true } };
  },
  getHealth: () => ({ fields: {} }),
  getAgent: ({ ann }) => ({ fields: { aid: ann.aid } }),
  createConnectToken: ({ ann }) => ({ agent: ann, fields: { aid: ann.aid } }),
  redeemConnectToken: async ({ world, ann }) => {
    const { body } = await world.call(ann, 'POST /connect', { aid: ann.aid });
    return { fields: { token: body.token } };
  },
  verifyAid: ({ ann }) => ({ fields: { aid: ann.aid } }),
};

export const samples: Readonly<Record<string, Make>> = {
  ...{ ...identity, ...tasks, ...messaging, ...threads },
  ...{ ...presence, ...radio },
};
