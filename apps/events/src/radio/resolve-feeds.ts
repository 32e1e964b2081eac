import { AppError } from '@acsp/errors';
import type { Life } from '@acsp/operation';
import type { Context } from '../context.js';
import { agentFeed, channelFeed, globalFeed, presenceFeeds } from '../feed/names.js';

/** The feeds of a stream. */
interface ResolvedFeeds {
  /** As the client named them. */
  readonly channels: readonly string[];
  readonly feeds: readonly string[];
  readonly watch_id: string | undefined;
}

const presence = /^presence:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The feeds of these channels and the agent's own. Throws PERMISSION_DENIED where it may not read one of them, or there is none (decisions 6.2). */
export async function resolveFeeds(context: Context, life: Life, channels: readonly string[]): Promise<ResolvedFeeds> {
  const wanted = [...new Set(channels)];
  const names = wanted.filter((name) => !name.startsWith('presence:'));
  const watches = wanted.filter((name) => name.startsWith('presence:'));
  const [found, watched] = await Promise.all([
    findChannels(context, life, names),
    Promise.all(watches.map((name) => findWatch(context, life, presence.exec(name)?.[1]))),
  ]);
  return {
    channels: wanted,
    feeds: [...new Set([agentFeed(life.aid), ...found, ...watched.flatMap(({ feeds }) => feeds)])],
    watch_id: watched[0]?.id,
  };
}

async function findChannels({ messaging }: Context, { aid, since }: Life, names: readonly string[]) {
  if (names.length === 0) return [];
  const { channels } = await messaging.findChannels({ aid, registered_at: since, names: [...names] });
  const ids = new Map(channels.map(({ name, channel_id }) => [name, channel_id]));
  const missing = names.find((name) => !ids.has(name));
  if (missing !== undefined)
    throw new AppError('PERMISSION_DENIED', { detail: `No channel ${JSON.stringify(missing)} that you may read` });
  return [...(ids.has('global') ? [globalFeed] : []), ...[...ids.values()].map(channelFeed)];
}

/** The one watch of the agent, if that is meant. */
async function findWatch({ database }: Context, { aid, since }: Life, id = '') {
  const watch = id === '' ? null : await database.prisma.presenceWatch.findFirst({ where: { id, aid, since } });
  if (watch === null) throw new AppError('PERMISSION_DENIED', { detail: 'No presence subscription of yours' });
  return { id, feeds: presenceFeeds(watch.watch_aids) };
}
