import { type Cast, type Make, uuid } from './sample.js';

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

export const threads: Record<string, Make> = {
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
  getThread: async (cast) => {
    const sample = await openThread(cast);
    return { ...sample, fields: { ...sample.fields, before: '5' } };
  },
  listThreads: async (cast) => {
    const { agent } = await openThread(cast);
    const cursor = Buffer.from('1900000000000 00000000-0000-7000-8000-000000000000').toString('base64url');
    return { agent, fields: { aid: agent.aid, status: 'open', limit: '10', cursor } };
  },
};

export const messaging: Record<string, Make> = {
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
