/** A clock that stands still until a test advances it. */
export interface TestClock {
  now(): Date;
  advance(ms: number): void;
}

export function testClock(start: Date | string | number = '2026-01-01T00:00:00Z'): TestClock {
  let time = new Date(start).getTime();
  return {
    now: () => new Date(time),
    advance: (ms) => {
      time += ms;
    },
  };
}
