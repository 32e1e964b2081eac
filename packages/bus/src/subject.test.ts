import { coveringPattern, subjectMatcher, subjectOf } from './subject.js';

test('an event of a service has its subject below acsp', () => {
  expect(subjectOf('tasks', 'task.claimed')).toBe('acsp.tasks.task.claimed');
});

test.each([
  ['acsp.tasks.task.claimed', 'acsp.tasks.task.claimed', true],
  ['acsp.tasks.>', 'acsp.tasks.task.claimed', true],
  ['acsp.>', 'acsp.tasks.task.claimed', true],
  ['acsp.*.task.*', 'acsp.tasks.task.claimed', true],
  ['acsp.tasks.task', 'acsp.tasks.task.claimed', false],
  ['acsp.tasks.*', 'acsp.tasks.task.claimed', false],
  ['acsp.tasks.task.claimed.>', 'acsp.tasks.task.claimed', false],
  ['acsp.task.>', 'acsp.tasks.task.claimed', false],
])('%s and %s: %s', (pattern, subject, taken) => {
  expect(subjectMatcher(['other.>', pattern])(subject)).toBe(taken);
});

test.each([
  [['acsp.tasks.>'], 'acsp.tasks.>'],
  [['acsp.tasks.task.created', 'acsp.tasks.task.claimed'], 'acsp.tasks.task.*'],
  [['acsp.tasks.>', 'acsp.identity.agent.deleted'], 'acsp.*.>'],
  [['acsp.tasks.task', 'acsp.tasks.task.created'], 'acsp.tasks.>'],
  [['acsp.>', 'acsp.tasks.task.created'], 'acsp.>'],
])('%j are covered by %s', (patterns, covering) => {
  expect(coveringPattern(patterns)).toBe(covering);
});
