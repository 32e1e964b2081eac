import { AppError } from '@acsp/errors';

/** Look-ups of unknown credentials in flight, counted by what they will be counted against when they fail. */
export interface Lookups {
  /**
   * Reserves a place for a look-up, and answers how it is given back: at once where fewer are in flight than `room` allows, and always one; else
   * when enough of them have ended. Rejects with SERVICE_UNAVAILABLE where that takes too long, or too many wait there.
   */
  begin(place: string, room: () => number): Promise<() => void>;
}

interface Waiting {
  readonly resolve: (end: () => void) => void;
  readonly room: () => number;
}

interface InFlight {
  count: number;
  /** In the order in which they came. */
  readonly waiting: Set<Waiting>;
}

/** For one place. */
const maxWaiting = 1_000;

/** `waitMs`: as long as a look-up itself may take. */
export function createLookups(waitMs = 5_000): Lookups {
  const places = new Map<string, InFlight>();

  function enter(place: string, flight: InFlight): () => void {
    flight.count += 1;
    return () => {
      flight.count -= 1;
      for (const next of flight.waiting) {
        if (flight.count >= Math.max(1, next.room())) break;
        flight.waiting.delete(next);
        next.resolve(enter(place, flight));
      }
      if (flight.count === 0) places.delete(place);
    };
  }

  function wait(flight: InFlight, room: () => number): Promise<() => void> {
    if (flight.waiting.size >= maxWaiting) throw new AppError('SERVICE_UNAVAILABLE');
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        flight.waiting.delete(waiting);
        reject(new AppError('SERVICE_UNAVAILABLE'));
      }, waitMs);
      const waiting: Waiting = {
        room,
        resolve(end) {
          clearTimeout(timer);
          resolve(end);
        },
      };
      flight.waiting.add(waiting);
    });
  }

  return {
    async begin(place, room) {
      const flight = places.get(place) ?? { count: 0, waiting: new Set() };
      places.set(place, flight);
      const isFree = flight.waiting.size === 0 && flight.count < Math.max(1, room());
      return isFree ? enter(place, flight) : wait(flight, room);
    },
  };
}
