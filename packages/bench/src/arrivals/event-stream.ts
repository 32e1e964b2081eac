import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Send } from '../driver.js';
import type { Account } from '../scenarios/scenario.js';

/** Asks for a token in the name of an agent. */
export async function createToken(send: Send, { aid, loginKey }: Account): Promise<string> {
  const body = JSON.stringify({ aid });
  return JSON.parse(await send({ method: 'POST', path: '/api/acsp/events/token', loginKey, body, expect: 200 })).token;
}

export const radioPath = (token: string) => `/api/acsp/events/radio?token=${token}&channels=global`;

/** Opens the stream of a token; `onEvent` is given each event as it is written on the stream. Resolves when it is connected. */
export async function openStream(url: string, token: string, onEvent: (event: string) => void): Promise<Disposable> {
  const request = get(`${url}${radioPath(token)}`, { agent: false });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`a stream was answered with ${answer.statusCode}`);
  let rest = '';
  answer.setEncoding('utf8').on('data', (text: string) => {
    const events = (rest + text).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) onEvent(event);
  });
  await once(answer, 'data');
  return { [Symbol.dispose]: () => request.destroy() };
}
