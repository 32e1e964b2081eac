const size = 1_024;

/** The ids of the events that a consumer handled last, by which it knows one that comes again because its acknowledgement was lost in an outage. */
export interface Recent {
  has(id: string): boolean;
  add(id: string): void;
}

export function createRecent(): Recent {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    add(id) {
      ids.add(id);
      if (ids.size <= size) return;
      const [oldest] = ids;
      if (oldest !== undefined) ids.delete(oldest);
    },
  };
}
