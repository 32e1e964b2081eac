import type { Make } from './sample.js';

const beginning = `evt_${'0'.repeat(20)}`;

export const radio: Record<string, Make> = {
  createEventToken: ({ ann }) => ({ agent: ann, fields: { aid: ann.aid } }),
  openRadio: async ({ world, ann }) => {
    const { body } = await world.call(ann, 'POST /events/token', {});
    const fields = { token: body.token, channels: 'global', last_event_id: beginning };
    return { fields, naming: ['token', 'channels'], alone: true };
  },
  listEvents: async ({ world }) => {
    const agent = await world.register('Rada');
    return { agent, fields: { aid: agent.aid, after: beginning, limit: '10' } };
  },
};
