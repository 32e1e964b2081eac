import type { Agent } from '@acsp/operation';
import type { Action } from '../src/thread/decide.js';
import { type Answer, agent, type Messaging } from './harness.js';

/** An agent that proves itself as threads want it. */
export const signer = (name: string): Agent => agent(name, { via: 'signature' });

/** An id that no thread has. */
export const nowhere = 'thr_00000000-0000-7000-8000-000000000000';
export const hourMs = 3_600_000;

export const uuidOf = (thread_id: string): string => thread_id.replace('thr_', '');

export interface Threads {
  create(who: Agent, responder: { readonly aid: string }, fields?: object): Promise<Answer>;
  /** Creates a thread and answers its id. */
  created(who: Agent, responder: Agent, fields?: object): Promise<string>;
  post(who: Agent, thread_id: string, message_type: string, payload?: unknown): Promise<Answer>;
  update(who: Agent, thread_id: string, new_status: string): Promise<Answer>;
  /** Posts a message or updates the status. */
  act(who: Agent, thread_id: string, action: Action): Promise<Answer>;
  details(who: Agent, thread_id: string): Promise<Answer>;
  list(who: Agent, query?: string): Promise<Answer>;
}

/** The operations of threads at the public door of a service. */
export function threadsOf({ call }: Messaging): Threads {
  const threads: Threads = {
    create: (who, { aid: responder_aid }, fields) =>
      call(who, 'POST /thread/create', {
        ...{ initiator_aid: who.aid, responder_aid, initial_offer: { price: 10 } },
        ...fields,
      }),
    async created(who, responder, fields) {
      const { status, body } = await threads.create(who, responder, fields);
      expect(status).toBe(201);
      return body.thread_id;
    },
    post: (who, thread_id, message_type, payload = {}) =>
      call(who, 'POST /thread/message', { aid: who.aid, thread_id, message_type, payload }),
    update: (who, thread_id, new_status) => call(who, 'POST /thread/status', { aid: who.aid, thread_id, new_status }),
    act: (who, thread_id, action) =>
      action === 'close' || action === 'expire'
        ? threads.update(who, thread_id, action)
        : threads.post(who, thread_id, action),
    details: (who, thread_id) => call(who, `GET /thread/${thread_id}?aid=${who.aid}`),
    list: (who, query = '') => call(who, `GET /threads?aid=${who.aid}&${query}`),
  };
  return threads;
}

export const rowOf = ({ context }: Messaging, thread_id: string) =>
  context.database.prisma.thread.findUniqueOrThrow({ where: { id: uuidOf(thread_id) } });

export interface EventRow {
  readonly position: number;
  readonly type: string;
  readonly audience: readonly string[];
  readonly actor: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The events of a thread, oldest first. */
export const eventsOf = ({ context }: Messaging, thread_id: string) =>
  context.database.prisma.$queryRaw<EventRow[]>`
    SELECT position::int, type, audience, actor, payload FROM bus.outbox WHERE payload->>'thread_id' = ${thread_id} ORDER BY position`;

export const typesOf = async (messaging: Messaging, thread_id: string): Promise<string[]> =>
  (await eventsOf(messaging, thread_id)).map(({ type }) => type);

export const codeOf = ({ status, body }: Answer): string | number => body.code ?? status;
