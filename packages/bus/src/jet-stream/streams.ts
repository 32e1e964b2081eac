import { isDeepStrictEqual } from 'node:util';
import { JetStreamApiCodes, JetStreamApiError, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';

const daysMs = 86_400_000;

export const eventStream = 'EVENTS';
export const feedStream = 'FEED';

/** The feed `agent:<aid>` is the subject `feed.agent.<aid>`; the broker repeats each message that it has stored on `live.feed.agent.<aid>`. */
export const feedSubject = (feed: string): string => `feed.${feed.replace(':', '.')}`;
export const liveSubject = (feed: string): string => `live.${feedSubject(feed)}`;

/** The broker's own notice that another server of its cluster leads the stream of the feeds. */
export const leaderElected = `$JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED.${feedStream}`;

type StreamDefinition = Partial<StreamConfig> & { readonly name: string; readonly subjects: string[] };

/** The streams of the broker. Settings that are absent here, such as the number of replicas, are the operator's. */
const streams: readonly StreamDefinition[] = [
  {
    name: eventStream,
    subjects: ['acsp.>'],
    max_age: nanos(7 * daysMs),
    // A relay that stopped between publishing and marking publishes again when it is back.
    duplicate_window: nanos(600_000),
    allow_direct: true,
  },
  {
    name: feedStream,
    subjects: ['feed.>'],
    max_age: nanos(7 * daysMs),
    duplicate_window: nanos(600_000),
    republish: { src: 'feed.>', dest: 'live.feed.>' },
  },
];

/** Creates the streams, and brings those of an earlier version up to date. */
export async function ensureStreams({ streams: api }: JetStreamManager): Promise<void> {
  for (const stream of streams) {
    const existing = await orUndefined(api.info(stream.name), JetStreamApiCodes.StreamNotFound);
    if (existing === undefined) await api.add(stream);
    else if (!agrees(existing.config, stream)) await api.update(stream.name, stream);
  }
}

/** The answer of the broker, or undefined when it answers that there is no such thing. */
export async function orUndefined<T>(answer: Promise<T>, notFound: number): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === notFound) return undefined;
    throw error;
  }
}

function agrees(actual: StreamConfig, wanted: StreamDefinition): boolean {
  return Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(actual[key as keyof StreamConfig], value));
}
