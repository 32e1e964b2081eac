import { OpenRadioRequestSchema } from '@acsp/contracts/events/v1/events';
import { AppError, toAppError } from '@acsp/errors';
import { type EventSink, pushedEvents } from '@acsp/http';
import { byAnyone, fieldsOf } from '@acsp/operation';
import { counter } from '@acsp/telemetry';
import { z } from 'zod';
import type { Context } from '../context.js';
import { eventIdField, positionOf } from '../feed/event-id.js';
import { claimRadio } from '../radio/claim.js';
import { closing, ownEvent, type Radio } from '../radio/radio.js';
import { resolveFeeds } from '../radio/resolve-feeds.js';
import type { Grant } from '../token/tokens.js';

const maxChannels = 20;
const namesOf = (channels: string) => channels.split(',').map((name) => name.trim());
const areNames = (names: readonly string[]) => names.length <= maxChannels && names.every((name) => name.length > 0);

const channelList = z
  .string('INVALID_FIELD')
  .max(2_000, 'INVALID_FIELD')
  .refine((text) => areNames(namesOf(text)), {
    error: 'INVALID_FIELD',
    params: { detail: `1 to ${maxChannels} names, separated by commas` },
  });

const fields = fieldsOf(OpenRadioRequestSchema)({
  token: z
    .string({ error: ({ input }) => (input === undefined ? 'AUTH_REQUIRED' : 'INVALID_TOKEN') })
    .min(1, 'AUTH_REQUIRED')
    .max(1_024, 'INVALID_TOKEN'),
  channels: channelList.default('global'),
  last_event_id: eventIdField.optional(),
});

type Input = z.output<typeof fields>;

const nothing = () => {};
const deferred = counter(
  'acsp_streams_deferred_total',
  'Resumed streams that had to come again, because something was away',
);

/** One event stream, from what the client has last, until something ends it; see ../radio. */
export const openRadio = byAnyone(fields, (context: Context, input, _caller, call) =>
  pushedEvents(call, async (sink) => {
    const grant = await context.tokens.verify(input.token);
    const radio = newRadio(context, grant, sink);
    // It is known before its agent and its channels are looked at, so that what changes from now on reaches it.
    context.hub.add(radio);
    try {
      await start(context, radio, { grant, input });
    } catch (error) {
      // Something has ended it meanwhile, and the client has been told so.
      if (radio.closed) return nothing;
      context.hub.remove(radio);
      // Anything but 200 ends a browser's EventSource for good: a client that resumes is sent on its way again.
      if (input.last_event_id == null || toAppError(error).code !== 'SERVICE_UNAVAILABLE') throw error;
      deferred.inc();
      sink.write(closing('shutdown', resumedFrom(input)));
      sink.end();
      return nothing;
    }
    return closerOf(context, radio);
  }),
);

/** By itself, because a closure of the operation would hold its input and its call for as long as the stream. */
const closerOf =
  ({ hub }: Context, radio: Radio) =>
  () =>
    hub.close(radio, 'shutdown');

function newRadio({ config }: Context, { token_id, aid, since }: Grant, sink: EventSink): Radio {
  const lasts = config.STREAM_SECONDS * (1 - Math.random() / 28);
  return {
    ...{ token_id, aid, since, sink, number: 0, feeds: [], watch_id: undefined, position: undefined },
    ...{ behind: { items: [], length: 0, again: false }, stale: false, closed: false },
    endsAt: Date.now() + lasts * 1_000,
    slot: Math.floor(Math.random() * 15),
  };
}

interface Opening {
  readonly grant: Grant;
  readonly input: Input;
}

async function start(context: Context, radio: Radio, { grant, input }: Opening): Promise<void> {
  const { hub, bus, directory } = context;
  const resumed = resumedFrom(input);
  const registered = (await directory([grant.aid])).get(grant.aid);
  if (registered?.getTime() !== grant.since.getTime()) throw new AppError('INVALID_TOKEN');
  let channels = await subscribe(context, radio, input);
  const { first, last } = await bus.feed.bounds();
  if (resumed !== undefined && resumed > last) throw new AppError('INVALID_EVENT_ID');
  // Only a stream that nothing refuses ends the one that its token had.
  radio.number = await claimRadio(context, grant, resumed !== undefined);
  if (radio.stale) channels = await subscribe(context, radio, input);
  if (radio.closed) return;
  hub.claim(radio);
  radio.position = resumed ?? last;
  const { aid } = radio;
  const connected = {
    aid,
    channels,
    ...(resumed !== undefined && { resumed_from: input.last_event_id }),
    ...(resumed !== undefined && resumed + 1 < first && { truncated: true }),
  };
  // Its id is where the stream begins, so that one which breaks off before its first event loses nothing.
  radio.sink.write(ownEvent('connected', connected, radio.position));
  hub.startReplay(radio, last);
}

const maxLooks = 10;

/** Answers the names of the channels. What changes while they are resolved has them resolved again. */
async function subscribe(context: Context, radio: Radio, { channels }: Input): Promise<readonly string[]> {
  for (let looks = 0; looks < maxLooks; looks += 1) {
    radio.stale = false;
    const resolved = await resolveFeeds(context, radio, namesOf(channels ?? ''));
    radio.watch_id = resolved.watch_id;
    await context.hub.subscribe(radio, resolved.feeds);
    if (!radio.stale) return resolved.channels;
  }
  throw new AppError('SERVICE_UNAVAILABLE');
}

const resumedFrom = ({ last_event_id }: Input) => (last_event_id == null ? undefined : positionOf(last_event_id));
