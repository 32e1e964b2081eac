/** Orders of a list; ties by id. */
export const sorts = ['created_at', 'priority', 'deadline'] as const;
export type Sort = (typeof sorts)[number];

interface Order {
  /** As the index has it. */
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

const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const values: Readonly<Record<Sort, RegExp>> = {
  created_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  priority: /^(low|normal|high|urgent)$/,
  deadline: /^(infinity|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/,
};

/** Undefined for a text that is no cursor of this order. */
export function readCursor(sort: Sort, text: string): Cursor | undefined {
  try {
    const [of, value, task] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const fits = of === sort && typeof value === 'string' && values[sort].test(value);
    return fits && typeof task === 'string' && id.test(task) && isTime(sort, value) ? { value, id: task } : undefined;
  } catch {
    return undefined;
  }
}

const isTime = (sort: Sort, value: string) => sort === 'priority' || value === 'infinity' || !Number.isNaN(Date.parse(value));
