import type { Schedules } from './store.js';

/** Schedules in this process, without a limit of size. */
export function memorySchedules(): Schedules & { clear(): void } {
  const schedules = new Map<string, Map<string, number>>();
  const isDue = (dueAt = Number.POSITIVE_INFINITY) => dueAt <= performance.now();
  return {
    async schedule(name, member, dueInSeconds) {
      const members = schedules.get(name) ?? new Map<string, number>();
      schedules.set(name, members.set(member, performance.now() + dueInSeconds * 1000));
    },
    async due(name, limit) {
      const due = [...(schedules.get(name) ?? [])].filter(([, dueAt]) => isDue(dueAt));
      return due
        .sort(([, a], [, b]) => a - b)
        .slice(0, limit)
        .map(([member]) => member);
    },
    async unschedule(name, members) {
      const scheduled = schedules.get(name);
      return members.filter((member) => isDue(scheduled?.get(member)) && scheduled?.delete(member));
    },
    clear: () => schedules.clear(),
  };
}
