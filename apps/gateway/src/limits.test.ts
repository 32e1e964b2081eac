import { createLimits } from './limits.js';

test('has the limits of the interface', () => {
  const { tasks, register, 'agent-init': agentInit, agent } = createLimits(1);
  expect([tasks.limit, register.limit, agentInit.limit, agent.limit]).toEqual([30, 5, 10, 60]);
  expect(tasks.policy).toBe('"tasks";q=30;w=60');
});

test('replaces limits before it scales all of them, and leaves at least one request', () => {
  expect(createLimits(2, { tasks: 7 })).toMatchObject({ tasks: { limit: 14 }, register: { limit: 10 } });
  expect(createLimits(0.001).tasks.limit).toBe(1);
});
