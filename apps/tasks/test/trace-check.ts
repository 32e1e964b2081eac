import type { Event } from '@acsp/contracts/events/v1/event';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import type { Agent } from '@acsp/operation';
import { eventually, type TestClock } from '@acsp/testkit';
import { create, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { anyUnpack, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Answer, Tasks } from './harness.js';
import { stepsOf } from './steps.js';
import { tracesOf } from './traces.js';

/** The rows that one change of a task should leave. Statuses are of the task afterwards unless they say otherwise. */
export interface Expected {
  readonly type: string;
  readonly audience: readonly Agent[];
  /** Absent where the event moves nothing. */
  readonly previousStatus?: string;
  readonly claimId?: string | ((answer: Answer) => string);
  readonly note?: string;
  /** The text of the system message; absent where the event comes with an agent's own message. */
  readonly says?: string;
}

type Payload = MessageInitShape<typeof TaskEventSchema>;
const json = (payload: Payload) => toJson(TaskEventSchema, create(TaskEventSchema, payload));
export const payloadOf = (event: Event) => event.payload && anyUnpack(event.payload, TaskEventSchema);
export const feedsOf = (agents: readonly Agent[]) => agents.map(({ aid }) => `agent:${aid}`).sort();

/** Watches the service's bus from now on. */
export async function watchTraces(tasks: Tasks, clock: TestClock) {
  const published: Event[] = [];
  let live = false;
  const watching = tasks.bus.watch({
    subjects: ['acsp.tasks.>'],
    handle: (event) => void published.push(event),
    onLive: (now) => {
      live = now;
    },
  });
  await eventually(() => live);
  const onBus = (taskId: string) => published.filter((event) => payloadOf(event)?.taskId === taskId);

  /** The latest event of a task, once the bus has carried every one that was written: once, and in order. */
  async function latest(taskId: string): Promise<Event> {
    const { events } = await tracesOf(tasks, taskId);
    await eventually(() => onBus(taskId).length >= events.length);
    expect(onBus(taskId).map((event) => event.id)).toEqual(events.map((event) => event.id));
    return onBus(taskId).at(-1) as Event;
  }

  /** Makes one change of a task and compares all that it left behind: on the bus, in the log and in the thread. */
  async function expectOne(id: string, act: () => Promise<unknown>, expected: Expected): Promise<void> {
    const before = await tracesOf(tasks, id);
    const answer = (await act()) as Answer;
    const after = await tracesOf(tasks, id);
    const events = after.events.slice(before.events.length);
    const [log, said] = [after.log.slice(before.log.length), after.said.slice(before.said.length)];
    const event = await latest(id);
    const { body } = await stepsOf(tasks).details(expected.audience[0] as Agent, id);
    const claimId = typeof expected.claimId === 'function' ? expected.claimId(answer) : expected.claimId;

    expect(events).toMatchObject([{ id: event.id, type: event.type, actor: event.actor ?? null }]);
    expect(event.type).toBe(expected.type);
    expect(event.occurredAt && timestampDate(event.occurredAt)).toEqual(clock.now());
    expect([...event.audience].sort()).toEqual(feedsOf(expected.audience));
    const messageId = expected.says === undefined ? answer.body.id : said[0]?.id;
    const payload = expectedPayload(body.task, { ...expected, claimId, actorAid: event.actor, messageId });
    expect(json(payloadOf(event) as Payload)).toEqual(json(payload));
    if (expected.says === undefined) return expect([log, said]).toEqual([[], []]);

    const note = expected.note ?? null;
    const [from_status, to_status] = [payload.previousStatus, payload.status];
    const entry = { event: event.type, actor_aid: event.actor ?? null, from_status, to_status, note };
    expect(log).toMatchObject([{ ...entry, claim_id: claimId ?? null, created_at: clock.now() }]);
    const metadata = {
      event: event.type,
      ...(event.actor && { actor_aid: event.actor }),
      ...(note && { comment: note }),
    };
    expect(said).toMatchObject([{ content: expected.says, sender_name: 'acsp', created_at: clock.now() }]);
    expect(said[0]?.metadata).toEqual(metadata);
  }

  return { latest, expectOne, [Symbol.asyncDispose]: () => watching[Symbol.asyncDispose]() };
}

function expectedPayload(task: Record<string, string>, expected: Pick<Expected, 'previousStatus'> & Payload): Payload {
  const { previousStatus = task.status, claimId, actorAid, messageId } = expected;
  const { id: taskId, title, status, creator_aid: creatorAid } = task;
  const optional = { assignedAid: task.assigned_aid ?? undefined, targetAid: task.target_aid ?? undefined };
  return { taskId, title, previousStatus, status, creatorAid, ...optional, claimId, actorAid, messageId };
}
