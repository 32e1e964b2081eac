import { mayOpen } from './may-open.js';

const expires_at = new Date('2026-01-02T03:05:00Z');
const grant = { token_id: '', aid: '', since: new Date(0), expires_at };
const at = (seconds: number) => new Date(expires_at.getTime() + seconds * 1_000);
const ended = (seconds: number) => ({ alive_at: at(seconds), ended_at: at(seconds) });

test('a token opens streams until it expires', () => {
  expect(mayOpen(grant, null, { now: at(0), resumes: false })).toBe(true);
  expect(mayOpen(grant, null, { now: at(1), resumes: false })).toBe(false);
  expect(mayOpen(grant, null, { now: at(1), resumes: true })).toBe(false);
});

test('an expired token takes up its stream within 120 s of its end, with the id of the last event', () => {
  expect(mayOpen(grant, ended(1_000), { now: at(1_120), resumes: true })).toBe(true);
  expect(mayOpen(grant, ended(1_000), { now: at(1_121), resumes: true })).toBe(false);
  expect(mayOpen(grant, ended(1_000), { now: at(1_001), resumes: false })).toBe(false);
});

test('a stream whose process was killed counts as open until its next sign of life would have come', () => {
  const killed = { alive_at: at(1_000), ended_at: null };
  expect(mayOpen(grant, killed, { now: at(1_140), resumes: true })).toBe(true);
  expect(mayOpen(grant, killed, { now: at(1_141), resumes: true })).toBe(false);
});
