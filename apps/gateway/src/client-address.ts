import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Which header names the client, and which of its values counted from the right: the one that our outermost proxy wrote. */
export interface Trust {
  readonly header: string | undefined;
  readonly fromRight: number;
}

/** `none`, `x-real-ip`, `x-forwarded-for:2`. */
export function parseTrust(text: string): Trust | undefined {
  if (text === 'none') return { header: undefined, fromRight: 1 };
  const match = /^([a-z][a-z0-9-]*)(?::([1-9]))?$/i.exec(text);
  return match?.[1] ? { header: match[1].toLowerCase(), fromRight: Number(match[2] ?? 1) } : undefined;
}

/** The address that the request came from: what the trusted header says, or else the peer of the connection. */
export function clientAddress(request: IncomingMessage, trust: Trust): string {
  const peer = request.socket.remoteAddress ?? '';
  const header = trust.header === undefined ? undefined : request.headers[trust.header];
  const named = typeof header === 'string' ? header.split(',').at(-trust.fromRight)?.trim() : undefined;
  const address = named !== undefined && isIP(named) !== 0 ? named : peer;
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/** What limits count by: an IPv4 address, or the /64 that one customer has of IPv6. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  if (tail !== undefined) groups.push(...Array<string>(8).fill('0'));
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group || '0', 16).toString(16));
  return `${network.join(':')}::/64`;
}
