import type { ErrorCode } from '@acsp/errors';
import type { Thread } from '../generated/prisma/client.js';
import type { ThreadMessageType, ThreadRole, ThreadStatus } from '../generated/prisma/enums.js';

// Rules and effects of negotiation threads (decisions 4.9 and 8 "Threads") are pure functions. Operations, the sweep and tests call these.

export const statuses = [
  'open',
  'negotiating',
  'agreed',
  'rejected',
  'expired',
  'closed',
] as const satisfies readonly ThreadStatus[];

/** Statuses that something leaves. A thread that has one of them runs out at expires_at. */
export const live = ['open', 'negotiating'] as const satisfies readonly ThreadStatus[];

/** The columns of a thread that rules look at. */
export type ThreadState = Readonly<
  Pick<Thread, 'status' | 'latest_offer_by' | 'messages_count' | 'updated_at' | 'expires_at'>
>;

export type Action = ThreadMessageType | 'close' | 'expire';

export interface Acting {
  readonly by: ThreadRole;
  readonly action: Action;
  readonly at: Date;
}

export interface Change {
  readonly set: Partial<Omit<ThreadState, 'expires_at'>>;
  /** Null where nothing changes: a thread that has expired may be expired again. */
  readonly event: `thread.${string}` | null;
  /** The number of the message that comes with the change, which is the thread's count from then on. */
  readonly number: number | null;
}

export type Decision = Change | { readonly refused: ErrorCode };

const refusal = { refused: 'INVALID_TRANSITION' } as const;

/** The thread as everybody sees it: one that ran out is expired, since its last moment, before its row says so. */
export function threadAt<T extends Pick<ThreadState, 'status' | 'updated_at' | 'expires_at'>>(thread: T, at: Date): T {
  const { status, expires_at } = thread;
  return isLive(status) && expires_at <= at ? { ...thread, status: 'expired', updated_at: expires_at } : thread;
}

export const isLive = (status: ThreadStatus) => live.some((one) => one === status);

type Move = Exclude<Action, 'expire'>;
type Rule = (thread: ThreadState, by: ThreadRole) => ThreadStatus | undefined;

/** The status of a live thread after a move; undefined where the move is not allowed. */
const rules: Readonly<Record<Move, Rule>> = {
  offer: ({ status }, by) => (by === 'responder' ? 'negotiating' : status),
  // An initiator has nothing to counter before the responder has offered something.
  counter: ({ status }, by) => (by === 'initiator' && status === 'open' ? undefined : 'negotiating'),
  accept: ({ latest_offer_by }, by) => (by === latest_offer_by ? undefined : 'agreed'),
  reject: () => 'rejected',
  info: ({ status }) => status,
  close: () => 'closed',
};

const events = {
  offer: 'thread.offered',
  counter: 'thread.countered',
  accept: 'thread.accepted',
  reject: 'thread.rejected',
  info: 'thread.informed',
  close: 'thread.closed',
} as const satisfies Record<Move, string>;

/** Decides on what a participant does. */
export function decide(thread: ThreadState, { by, action, at }: Acting): Decision {
  if (action === 'expire') return decideExpiry(thread, at);
  if (!isLive(threadAt(thread, at).status)) return refusal;
  const status = rules[action](thread, by);
  if (status === undefined) return refusal;
  const number = action === 'close' ? null : thread.messages_count + 1;
  const offers = action === 'offer' || action === 'counter';
  return {
    set: {
      status,
      updated_at: at,
      ...(number !== null && { messages_count: number }),
      ...(offers && { latest_offer_by: by }),
    },
    event: events[action],
    number,
  };
}

/** A thread ends with its time to live, and not before. */
export function decideExpiry(thread: ThreadState, at: Date): Decision {
  const { status, updated_at } = threadAt(thread, at);
  if (status !== 'expired') return refusal;
  const isWritten = thread.status === 'expired';
  return { set: isWritten ? {} : { status, updated_at }, event: isWritten ? null : 'thread.expired', number: null };
}
