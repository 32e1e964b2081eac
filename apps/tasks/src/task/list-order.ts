import { parseIsoTime } from '@acsp/text';

/** Orders of a list; ties by id. */
export const sorts = ['created_at', 'priority', 'deadline'] as const;
export type Sort = (typeof sorts)[number];

interface Order {
  /** The expression of the index. */
  readonly column: string;
  readonly type: string;
  readonly descending: boolean;
}

export const orders: Readonly<Record<Sort, Order>> = {
  created_at: { column: 'created_at', type: 'timestamptz', descending: true },
  priority: { column: 'priority', type: 'task_priority', descending: true },
  deadline: { column: "coalesce(deadline, 'infinity')", type: 'timestamptz', descending: false },
};

/** The place of a task in a list: behind it the next page begins, whatever was written meanwhile. */
export interface Cursor {
  readonly value: string;
  readonly id: string;
}

interface Placed {
  readonly id: string;
  readonly created_at: Date | string;
  readonly priority: string;
  readonly deadline: Date | string | null;
}

const iso = (time: Date | string | null) => (time === null ? 'infinity' : new Date(time).toISOString());

export function cursorOf(sort: Sort, task: Placed): string {
  const value = sort === 'priority' ? task.priority : iso(task[sort]);
  return Buffer.from(JSON.stringify([sort, value, task.id])).toString('base64url');
}

const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const isPriority = /^(low|normal|high|urgent)$/;

/** Undefined for a text that is no cursor of this order. */
export function readCursor(sort: Sort, text: string): Cursor | undefined {
  try {
    const [of, value, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (of !== sort || typeof value !== 'string' || typeof id !== 'string') return undefined;
    const fits =
      sort === 'priority' ? isPriority.test(value) : isTime(value) || (sort === 'deadline' && value === 'infinity');
    return fits && isUuid.test(id) ? { value, id } : undefined;
  } catch {
    return undefined;
  }
}

/** A time that exists, in the form that cursorOf writes: PostgreSQL refuses others with an error. */
const isTime = (value: string) => parseIsoTime(value)?.toISOString() === value;
