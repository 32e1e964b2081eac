import { createStack } from '@acsp/service';
import { jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Pool } from 'undici';
import { type Request, sendBy } from '../driver.js';
import { type Account, nth } from '../scenarios/scenario.js';
import { createToken, openStream } from './event-stream.js';
import type { Way } from './open-loop.js';

/** An act of an agent that another sees. */
interface Deed {
  request(number: number, from: Account, to: Account): Request;
  /** The number in an event that the other sees. */
  readonly seen: RegExp;
}

const text = 'The figures of the third quarter are in; shall we go through them before the board meets? '.repeat(2);

export const message: Deed = {
  request: (number, from, to) => ({
    method: 'POST',
    path: '/api/acsp/message/send',
    loginKey: from.loginKey,
    body: JSON.stringify({ aid: from.aid, target_aid: to.aid, content: `#${number} ${text}` }),
    expect: 201,
  }),
  seen: /^event: message\n.*"body":"#(\d+) /m,
};

/** A task that is meant for one worker. */
export const task: Deed = {
  request: (number, from, to) => ({
    method: 'POST',
    path: '/api/acsp/tasks',
    loginKey: from.loginKey,
    body: JSON.stringify({ aid: from.aid, target_aid: to.aid, title: `#${number}`, description: text }),
    expect: 201,
  }),
  seen: /^event: task\n.*"title":"#(\d+)"/m,
};

const connections = 64;

/** From an agent's request to the stream of the agent that it is for; half of the accounts send, and the other half have a stream each. */
export async function throughService(url: string, accounts: readonly Account[], { request, seen }: Deed): Promise<Way> {
  const stack = createStack();
  const pool = new Pool(url, { connections, pipelining: 1, headersTimeout: 30_000 });
  stack.defer(() => pool.destroy());
  const send = sendBy(pool);
  const half = accounts.length >> 1;
  const [senders, readers] = [accounts.slice(0, half), accounts.slice(half)];
  const way: Way = {
    send: (number) => send(request(number, nth(senders, number), nth(readers, number))),
    onSeen: () => {},
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
  for (const reader of readers) {
    const stream = await openStream(url, await createToken(send, reader), (event) => {
      const number = seen.exec(event)?.[1];
      if (number !== undefined) way.onSeen(Number(number));
    });
    stack.defer(() => stream[Symbol.dispose]());
  }
  return way;
}

/** From a request to its answer by a baseline, which has no streams and knows no agents: what the request alone takes on this machine. */
export function untilAnswered(url: string, { request }: Deed): Way {
  const pool = new Pool(url, { connections, pipelining: 1, headersTimeout: 30_000 });
  const send = sendBy(pool);
  const account = (number: number): Account => ({ aid: `${number % 50}`.padStart(50, '0'), loginKey: 'nk_baseline' });
  const way: Way = {
    async send(number) {
      await send(request(number, account(number), account(number + 1)));
      way.onSeen(number);
    },
    onSeen: () => {},
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
  return way;
}

/** From one connection through a stream that keeps its messages in files to a consumer on another connection. */
export async function throughNats(servers: string): Promise<Way> {
  const stack = createStack();
  const [publishing, consuming] = await Promise.all([connect({ servers }), connect({ servers })]);
  for (const connection of [publishing, consuming]) stack.defer(() => connection.close());
  const manager = await jetstreamManager(publishing);
  await manager.streams.add({ name: 'BENCH', subjects: ['bench'], storage: StorageType.File });
  stack.defer(async () => void (await manager.streams.delete('BENCH')));
  const client = jetstream(publishing);
  const way: Way = {
    send: (number) => client.publish('bench', `#${number} ${text}`),
    onSeen: () => {},
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
  const consumer = await jetstream(consuming).consumers.get('BENCH', { filter_subjects: 'bench' });
  const messages = await consumer.consume({
    callback: (seen) => way.onSeen(Number.parseInt(seen.string().slice(1), 10)),
  });
  stack.defer(() => messages.stop());
  return way;
}
