import type { ErrorCode } from '@acsp/errors';
import type { Agent } from '@acsp/operation';
import type { TestClock } from '@acsp/testkit';
import { type Decision, decide, decideExpiry, type ThreadState } from '../../src/thread/decide.js';
import { expireThreads } from '../../src/thread/expire-threads.js';
import type { Answer, Messaging } from '../harness.js';
import { signer, threadsOf } from '../threads.js';
import { type Actor, agentCount, type Step } from './step.js';

/** A thread beside that of the service: its state, moved by the same rules, and its messages. */
export interface Walked {
  readonly thread_id: string;
  readonly initiator: Agent;
  readonly responder: Agent;
  state: ThreadState;
  readonly messages: { readonly sender_aid: string; readonly message_type: string }[];
}

/** The service and the states that walk beside it. */
export interface World {
  readonly messaging: Messaging;
  readonly clock: TestClock;
  readonly agents: readonly Agent[];
  readonly made: Walked[];
}

export interface Trace {
  readonly thread_id: string;
  readonly type: string;
  readonly actor: string | null;
  readonly status: string;
  readonly previous_status: string | null;
  readonly number: number | null;
}

export interface Taken {
  /** The answer of the service; absent where nobody asked. */
  readonly answer?: Answer;
  readonly thread?: Walked;
  readonly refused?: ErrorCode | undefined;
  /** The events that the step has to leave. */
  readonly traces: readonly Trace[];
}

export const createWorld = (messaging: Messaging, clock: TestClock): World => ({
  ...{ messaging, clock, made: [] },
  agents: Array.from({ length: agentCount }, (_, n) => signer(`Agent ${n}`)),
});

/** Takes the step in the service, then beside it. */
export async function takeStep(world: World, step: Step): Promise<Taken> {
  const { messaging, clock, made } = world;
  switch (step.kind) {
    case 'wait':
      clock.advance(step.minutes * 60_000);
      return { traces: [] };
    case 'sweep':
      await expireThreads(messaging.context);
      return { traces: made.flatMap((walked) => follow(walked, decideExpiry(walked.state, clock.now()), null).traces) };
    case 'create':
      return create(world, step);
    case 'act':
      return act(world, step);
  }
}

async function create(
  { messaging, clock, agents, made }: World,
  step: Step & { readonly kind: 'create' },
): Promise<Taken> {
  const [initiator, responder] = [agents[step.initiator] as Agent, agents[step.responder] as Agent];
  const answer = await threadsOf(messaging).create(initiator, responder, { ttl_hours: step.minutes / 60 });
  const { thread_id } = answer.body;
  const [now, expires_at] = [clock.now(), new Date(clock.now().getTime() + step.minutes * 60_000)];
  const state = {
    status: 'open',
    latest_offer_by: 'initiator',
    messages_count: 0,
    updated_at: now,
    expires_at,
  } as const;
  made.push({ thread_id, initiator, responder, state, messages: [] });
  const trace = { type: 'thread.created', actor: initiator.aid, status: 'open', previous_status: null, number: null };
  return { answer, traces: [{ thread_id, ...trace }] };
}

async function act({ messaging, clock, agents, made }: World, step: Step & { readonly kind: 'act' }): Promise<Taken> {
  const { who, action } = step;
  const walked = made[made.length - 1 - (step.thread % made.length)] as Walked;
  const agent = agentOf(walked, who, agents);
  const answer = await threadsOf(messaging).act(agent, walked.thread_id, action);
  if (who === 'stranger') return { answer, refused: 'THREAD_NOT_FOUND', thread: walked, traces: [] };
  const decision = decide(walked.state, { by: who, action, at: clock.now() });
  if ('number' in decision && decision.number !== null)
    walked.messages.push({ sender_aid: agent.aid, message_type: action });
  return { answer, thread: walked, ...follow(walked, decision, action === 'expire' ? null : agent.aid) };
}

const agentOf = ({ initiator, responder }: Walked, who: Actor, agents: readonly Agent[]): Agent =>
  ({ initiator, responder, stranger: agents.find((one) => one !== initiator && one !== responder) as Agent })[who];

/** Moves the thread as decided. */
function follow(walked: Walked, decision: Decision, actor: string | null): Pick<Taken, 'refused' | 'traces'> {
  if ('refused' in decision) return { refused: decision.refused, traces: [] };
  const { set, event: type, number } = decision;
  const { thread_id, state: before } = walked;
  walked.state = { ...before, ...set };
  if (type === null) return { traces: [] };
  const { status } = walked.state;
  return { traces: [{ thread_id, type, actor, status, previous_status: before.status, number }] };
}
