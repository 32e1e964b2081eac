import type { TestAgent, World } from '../harness.js';

export interface Talk extends AsyncDisposable {
  /** Ends it. Resolves with what was sent. */
  stop(): Promise<string[]>;
}

/** Sends numbered messages to an agent, one after the other, until it is stopped. */
export function talk(world: World, from: TestAgent, to: TestAgent): Talk {
  const sent: string[] = [];
  let stopped = false;
  const talking = (async () => {
    while (!stopped) {
      const content = `message ${sent.length + 1}`;
      const { status } = await world.call(from, 'POST /message/send', { target_aid: to.aid, content });
      if (status !== 201) throw new Error(`${content} was answered ${status}`);
      sent.push(content);
    }
    return sent;
  })();
  talking.catch(() => {});
  const stop = () => {
    stopped = true;
    return talking;
  };
  return { stop, [Symbol.asyncDispose]: async () => void (await stop().catch(() => {})) };
}
