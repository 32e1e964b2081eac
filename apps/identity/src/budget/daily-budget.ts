/** Epsilon that an agent may spend on two-party sessions in a UTC day. */
export const dailyBudget = 10;

/** The UTC day as `YYYY-MM-DD`. */
export const utcDay = (now: Date): string => now.toISOString().slice(0, 10);

export const secondsToNextDay = (now: Date): number => Math.ceil((86_400_000 - (now.getTime() % 86_400_000)) / 1000);
