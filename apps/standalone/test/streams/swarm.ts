import { eventually, type SeenEvent } from '@acsp/testkit';
import { createCaller, type TestAgent } from '../harness.js';
import { type Listener, startListener } from './listener.js';

export interface SwarmOptions {
  /** The addresses of the API, as they are now. */
  readonly urls: () => readonly string[];
  readonly publishers: number;
  readonly listeners: number;
  /** Agents that listen; each has several streams. */
  readonly agents: number;
}

/** Publishers that send direct messages and post to a channel, and listeners that are cut again and again. */
export interface Swarm {
  /** The number of messages that were answered 201 so far. */
  sent(): number;
  /** How often streams were opened. */
  opened(): number;
  /** Resolves once everything that was answered has been seen by every stream that should, or rejects with what is missing. */
  expectAll(): Promise<void>;
  end(): Promise<void>;
}

export async function startSwarm({ urls, publishers, listeners, agents }: SwarmOptions): Promise<Swarm> {
  const caller = createCaller(urls()[0] ?? '');
  const [owner, ...owners] = await quickstarts(caller.quickstart, agents);
  if (owner === undefined) throw new Error('A swarm needs agents');
  const writers = await quickstarts(caller.quickstart, publishers);
  const channel = await caller.call(owner, 'POST /channels', { aid: owner.aid, name: 'swarm' });
  const channel_id: string = channel.body.channel_id ?? channel.body.channel?.channel_id;
  for (const writer of writers) await caller.call(writer, 'POST /channels/join', { aid: writer.aid, channel_id });

  const all = [owner, ...owners];
  const streams: Listener[] = [];
  for (let n = 0; n < listeners; n += 1) {
    const agent = all[n % all.length] as TestAgent;
    const { body } = await caller.call(agent, 'POST /events/token', { aid: agent.aid });
    streams.push(startListener(agent, { urls, token: body.token, channels: 'global,swarm' }));
  }
  // A stream need not see messages from before it was open for the first time.
  const stopStreams = () => Promise.all(streams.map((stream) => stream.stop()));
  await eventually(() => streams.every(({ opened }) => opened() > 0), { timeoutMs: 20_000 }).catch(async (error) => {
    await stopStreams();
    throw error;
  });

  /** Message id to recipient; the channel's for all. */
  const promised = new Map<string, string>();
  let ending = false;
  const publish = async (writer: TestAgent, turn: number) => {
    const target = all[(turn * 7) % all.length] as TestAgent;
    const choices = urls();
    const { call } = createCaller(choices[turn % choices.length] ?? '');
    const content = `${writer.name} ${turn}`;
    const answer =
      turn % 4 === 0
        ? await call(writer, 'POST /channels/messages', { aid: writer.aid, channel_id, body: content })
        : await call(writer, 'POST /message/send', { aid: writer.aid, target_aid: target.aid, content });
    if (answer.status === 201)
      promised.set(answer.body.message_id ?? answer.body.id, turn % 4 === 0 ? channel_id : target.aid);
  };
  const publishing = writers.map(async (writer) => {
    for (let turn = 0; !ending; turn += 1) await publish(writer, turn).catch(() => {});
  });

  return {
    sent: () => promised.size,
    opened: () => streams.reduce((sum, { opened }) => sum + opened(), 0),
    async expectAll() {
      ending = true;
      await Promise.all(publishing);
      const expected = ({ agent }: Listener) =>
        [...promised].filter(([, target]) => target === agent.aid || target === channel_id).map(([id]) => id);
      const missing = (stream: Listener) => {
        const ids = new Set(messageIds(stream.seen));
        return expected(stream).filter((id) => !ids.has(id));
      };
      await eventually(() => expect(streams.flatMap(missing)).toEqual([]), { timeoutMs: 60_000, intervalMs: 200 });
      for (const { seen } of streams) {
        const ids = seen.map(({ id }) => id);
        expect(ids).toEqual([...new Set(ids)].sort());
        const messages = messageIds(seen);
        expect(new Set(messages).size).toBe(messages.length);
      }
      // The streams of one agent have seen the same, but for what came before they were open.
      for (const agent of all) {
        const [first = [], ...others] = streams
          .filter((one) => one.agent === agent)
          .map(({ seen }) => messageIds(seen));
        for (const other of others) expect(common(other, first)).toEqual(common(first, other));
      }
    },
    async end() {
      ending = true;
      await Promise.all([...publishing, stopStreams()]);
    },
  };
}

const messageIds = (seen: readonly SeenEvent[]): string[] =>
  seen.filter(({ event }) => event === 'message').map(({ data }) => data.message_id);

const common = (some: readonly string[], others: readonly string[]) => {
  const known = new Set(others);
  return some.filter((id) => known.has(id));
};

async function quickstarts(quickstart: (name: string) => Promise<TestAgent>, count: number): Promise<TestAgent[]> {
  const made: TestAgent[] = [];
  for (let n = 0; n < count; n += 1) made.push(await quickstart(`Agent ${n}`));
  return made;
}
