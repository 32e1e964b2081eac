import type { Make } from './sample.js';

export const presence: Record<string, Make> = {
  setPresence: ({ ann }) => ({ agent: ann, fields: { aid: ann.aid, status: 'away', metadata: { a: 1 } } }),
  heartbeat: ({ ann }) => ({ agent: ann, fields: { aid: ann.aid, status: 'busy', metadata: { a: 1 } } }),
  listPresences: ({ ann, bob }) => ({ agent: ann, fields: { aids: `${bob.aid},${ann.aid}` } }),
  getPresence: ({ ann, bob }) => ({ agent: ann, fields: { aid: bob.aid } }),
  subscribePresence: ({ ann, bob }) => ({
    agent: ann,
    fields: { aid: ann.aid, watch_aids: [bob.aid], target_aids: [bob.aid] },
  }),
  sweepPresence: ({ world }) => ({ agent: { loginKey: world.internalToken }, fields: {} }),
};
