import { aidOf, generateKeyPair } from '@acsp/crypto';
import type { TestAgent, World } from '../harness.js';

/** A request that an operation takes, with every field that it has, in a state where it succeeds. */
export interface Sample {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Whose login key or signature goes with it. */
  readonly agent?: Pick<TestAgent, 'privateKey'> & Partial<TestAgent>;
}

export interface Cast {
  readonly world: World;
  readonly ann: TestAgent;
  readonly bob: TestAgent;
}

type Make = (cast: Cast) => Promise<Sample> | Sample;

const uuid = '019a0000-0000-7000-8000-0000000000aa';
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

const greeting = { thread_id: 'greetings', metadata: { a: 1 } };

const globalId = '00000000-0000-7000-8000-676c6f62616c';
let channels = 0;

/** A channel of Ann's, with a message of hers. */
async function channelOf({ world, ann }: Cast) {
  channels += 1;
  const { body } = await world.call(ann, 'POST /channels', { name: `stones-${channels}` });
  const { channel_id, name } = body.channel;
  const posted = await world.call(ann, 'POST /channels/messages', { channel_id, body: 'Hello' });
  return { channel_id, channel_name: name, message_id: posted.body.id };
}

const offer = { price: 3, what: 'stones' };

/** A thread that an agent with keys of its own has opened with Bob. */
async function openThread({ world, bob }: Cast) {
  const agent = await world.register('Nina');
  const { body } = await world.callSigned(agent, 'POST /thread/create', {
    ...{ initiator_aid: agent.aid, responder_aid: bob.aid, initial_offer: offer },
  });
  return { agent, fields: { aid: agent.aid, thread_id: body.thread_id } };
}

const threads: Record<string, Make> = {
  createThread: async ({ world, bob }) => {
    const agent = await world.register('Nina');
    const parties = { initiator_aid: agent.aid, responder_aid: bob.aid };
    return { agent, fields: { ...parties, initial_offer: offer, ttl_hours: 1 } };
  },
  postThreadMessage: async (cast) => {
    const { agent, fields } = await openThread(cast);
    return { agent, fields: { ...fields, message_type: 'info', payload: offer } };
  },
  updateThreadStatus: async (cast) => {
    const { agent, fields } = await openThread(cast);
    return { agent, fields: { ...fields, new_status: 'close' } };
  },
  getThread: openThread,
  listThreads: async (cast) => {
    const { agent } = await openThread(cast);
    return { agent, fields: { aid: agent.aid, status: 'open', limit: '10' } };
  },
};

const messaging: Record<string, Make> = {
  listChannels: ({ ann }) => ({ fields: { aid: ann.aid } }),
  createChannel: ({ ann }) => {
    channels += 1;
    const kind = { channel_type: 'market', description: 'For stones', is_public: true };
    return { agent: ann, fields: { aid: ann.aid, name: `stones-${channels}`, ...kind } };
  },
  joinChannel: ({ bob }) => ({
    agent: bob,
    fields: { aid: bob.aid, channel_id: globalId, channel_name: 'global' },
  }),
  inviteToChannel: async (cast) => {
    const { channel_id } = await channelOf(cast);
    return { agent: cast.ann, fields: { aid: cast.ann.aid, channel_id, invitee_aid: cast.bob.aid } };
  },
  listChannelMessages: async (cast) => {
    const { channel_name, message_id } = await channelOf(cast);
    return { fields: { channel_name, limit: '10', before: message_id } };
  },
  postChannelMessage: async (cast) => {
    const { channel_id } = await channelOf(cast);
    return { agent: cast.ann, fields: { aid: cast.ann.aid, channel_id, body: 'Hello' } };
  },
  broadcastToChannel: async (cast) => {
    const { channel_id } = await channelOf(cast);
    const message = { content: 'Hello', msg_type: 'request', metadata: { a: 1 } };
    return { agent: cast.ann, fields: { aid: cast.ann.aid, channel_id, ...message } };
  },
  sendDirect: ({ ann, bob }) => ({
    agent: ann,
    fields: {
      ...{ sender_aid: ann.aid, from: ann.aid, recipient_aid: bob.aid, to: bob.aid },
      ...{ content: 'Hello', message: 'Hello' },
      message_type: 'notification',
      metadata: { a: 1 },
    },
  }),
  sendMessage: ({ ann, bob }) => ({
    agent: ann,
    fields: { ...greeting, aid: ann.aid, target_aid: bob.aid, content: 'Hello', msg_type: 'request' },
  }),
  getInbox: ({ ann }) => ({ agent: ann, fields: { aid: ann.aid, limit: '10', offset: '1', unread: 'true' } }),
  markInboxRead: ({ ann }) => ({ agent: ann, fields: { aid: ann.aid, message_ids: [uuid], all: true } }),
  broadcastDirect: ({ ann, bob }) => ({
    agent: ann,
    fields: { aid: ann.aid, to_aids: [bob.aid], body: 'Hello' },
  }),
  getHistory: ({ ann, bob }) => ({
    agent: ann,
    fields: {
      aid: ann.aid,
      with_aid: bob.aid,
      thread_id: 'greetings',
      limit: '10',
      before: '2030-01-01T00:00:00Z',
    },
  }),
  propose: ({ ann, bob }) => ({
    agent: ann,
    fields: { aid: ann.aid, to_aid: bob.aid, proposal: { type: 'trade', offer: 'stones', request: 'sand' } },
  }),
};

export const samples: Readonly<Record<string, Make>> = { ...identity, ...tasks, ...messaging, ...threads };
