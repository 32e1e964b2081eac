import type { RedisConnection } from './connect-redis.js';
import type { Schedules } from './store.js';
import { unavailable } from './unavailable.js';

/** A script runs alone, so a member can't be scheduled anew between a look at it and its removal. Times are those of Redis's own clock. */
const now = `local time = redis.call('TIME') local now = time[1] * 1000 + time[2] / 1000 `;
const schedule = `${now} redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[2])`;
const due = `${now} return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])`;
const unschedule = `${now} local removed = {}
  for _, member in ipairs(ARGV) do
    local due = redis.call('ZSCORE', KEYS[1], member)
    if due and tonumber(due) <= now and redis.call('ZREM', KEYS[1], member) == 1 then table.insert(removed, member) end
  end
  return removed`;

/** Schedules in sorted sets, whose scores are milliseconds since 1970. They have no prefix in common with a store's keys. */
export function redisSchedules({ client, ask }: RedisConnection, prefix: string): Schedules {
  async function run<T>(script: string, name: string, args: readonly (string | number)[]): Promise<T> {
    try {
      return await ask(() => client.eval(script, 1, `schedule:${prefix}${name}`, ...args) as Promise<T>);
    } catch (problem) {
      throw unavailable(problem);
    }
  }
  return {
    schedule: (name, member, dueInSeconds) => run(schedule, name, [dueInSeconds * 1000, member]),
    due: (name, limit) => run(due, name, [limit]),
    unschedule: (name, members) => run(unschedule, name, members),
  };
}
