export const statuses = ['online', 'away', 'busy', 'idle', 'offline'] as const;

export type Status = (typeof statuses)[number];

/** The latest that an agent has said of itself. */
export interface Seen {
  readonly status: Status;
  readonly last_seen: Date;
}

/** The latest announcement of an agent to its watchers. */
export interface Announced {
  readonly status: Status;
  /** The registration of the life that it was said of. */
  readonly since: Date;
}

export const heartbeatSeconds = 60;

/** One heartbeat may be lost and the next be 30 s late: agents must not flap. */
export const goodForSeconds = 150;

/** Watchers are shown a sign of life at most once in this time. */
export const signalSeconds = 30;

/** The status of an agent for everybody who asks, whether a sweep has noticed it yet or not. */
export function statusAt(now: Date, seen: Seen | undefined): Status {
  if (seen === undefined || now.getTime() - seen.last_seen.getTime() > goodForSeconds * 1000) return 'offline';
  return seen.status;
}

/** An agent that was never announced is offline to its watchers. A life that has ended says nothing once a later one is announced. */
export function decideAnnouncement({ status, since }: Announced, before: Announced | undefined): Announcement {
  if (before === undefined) return status === 'offline' ? 'nothing' : 'announce';
  if (before.since > since) return 'nothing';
  if (before.status !== status) return 'announce';
  return before.since < since ? 'note' : 'nothing';
}

/** `note` keeps a former life from announcing its end: the status is the same, but the agent's new life has it. */
export type Announcement = 'nothing' | 'note' | 'announce';
