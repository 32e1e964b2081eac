/** Reads for all who ask for the same thing at the same time. */
export type Coalesce<T> = (key: string, read: () => Promise<T>) => Promise<T>;

interface Reading<T> {
  readonly now: Promise<T>;
  next?: Promise<T>;
}

/**
 * Of each key one reading is on its way at a time. Whoever asks meanwhile shares the next one, which sees all that was written before they asked;
 * where the present one fails, they share its failure.
 */
export function createCoalesce<T>(): Coalesce<T> {
  const readings = new Map<string, Reading<T>>();

  function begin(key: string, read: () => Promise<T>): Promise<T> {
    const reading: Reading<T> = { now: (async () => read())() };
    readings.set(key, reading);
    const end = () => {
      if (reading.next === undefined) readings.delete(key);
    };
    reading.now.then(end, end);
    return reading.now;
  }

  return (key, read) => {
    const reading = readings.get(key);
    if (reading === undefined) return begin(key, read);
    const fail = (error: unknown) => {
      readings.delete(key);
      throw error;
    };
    reading.next ??= reading.now.then(() => begin(key, read), fail);
    return reading.next;
  };
}
