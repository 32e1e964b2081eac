import { createPrincipals, principalHeader } from '@acsp/operation';
import { createToken, radioPath } from '../arrivals/event-stream.js';
import type { Send } from '../driver.js';
import type { Account } from '../scenarios/scenario.js';
import type { Distributed } from '../sides/distributed.js';
import { principalSecret } from '../sides/settings.js';

/** The place where streams are opened. */
export interface Door {
  readonly title: string;
  readonly url: string;
  /** Header lines of each request. */
  headers(): string;
}

const rpc = 'acsp.events.v1.EventsService/OpenRadio';
const principals = createPrincipals([principalSecret]);

/** The service's own door, at which we stand for the gateway. */
export const directDoor = ({ events }: Distributed): Door => ({
  title: 'direct',
  url: events.url,
  headers: () => `${principalHeader}: ${principals.sign({ via: 'anonymous', name: '', requestId: 'bench', rpc })}\r\n`,
});

export const gatewayDoor = ({ url }: Distributed): Door => ({ title: 'through the gateway', url, headers: () => '' });

/** A request for each account, with a token of its own. */
export function requestsFor(send: Send, { url, headers }: Door, accounts: readonly Account[]): Promise<string[]> {
  const { host } = new URL(url);
  return Promise.all(
    accounts.map(async (account) => {
      const path = radioPath(await createToken(send, account));
      return `GET ${path} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n${headers()}\r\n`;
    }),
  );
}
