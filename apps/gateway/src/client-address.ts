import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Which header names the client, and which of its values counted from the right: the one that our outermost proxy wrote. */
export interface Trust {
  readonly header: string | undefined;
  readonly fromRight: number;
}

/** `none`, `forwarded`, or a header with a hyphen: `x-real-ip`, `x-forwarded-for:2`. So `false` and `off` are refused instead of being believed. */
export function parseTrust(text: string): Trust | undefined {
  if (text === 'none') return { header: undefined, fromRight: 1 };
  const match = /^(forwarded|[a-z0-9]+(?:-[a-z0-9]+)+)(?::([1-9]))?$/i.exec(text);
  return match?.[1] ? { header: match[1].toLowerCase(), fromRight: Number(match[2] ?? 1) } : undefined;
}

/** The address that the request came from: the trusted header's, or the peer's of the connection where that names none. */
export function clientAddress(request: IncomingMessage, trust: Trust): string {
  const named = addressIn(trustedValue(request, trust, 'for'));
  return withoutMapping(named ?? request.socket.remoteAddress ?? '');
}

/** The protocol by which the client reached the trusted proxy, or this process. */
export function clientProtocol(request: IncomingMessage, trust: Trust): 'http' | 'https' {
  if (trust.header === undefined) return 'http';
  const proto = trust.header === 'forwarded' ? trust : { header: 'x-forwarded-proto', fromRight: 1 };
  return /^"?https"?$/i.test(trustedValue(request, proto, 'proto') ?? '') ? 'https' : 'http';
}

/** The value of a list-valued header, whose empty elements count for nothing (RFC 9110, 5.6.1); of `Forwarded` (RFC 7239) that of one parameter. */
function trustedValue(
  { headers }: IncomingMessage,
  { header, fromRight }: Trust,
  parameter: string,
): string | undefined {
  const list = header === undefined ? undefined : headers[header];
  if (typeof list !== 'string') return undefined;
  if (header !== 'forwarded') {
    const values = list.split(',').map((value) => value.trim());
    return values.filter((value) => value !== '').at(-fromRight);
  }
  const pairs = [...elementOf(list, fromRight).matchAll(pairForm)];
  return pairs.find(([, name]) => name?.toLowerCase() === parameter)?.[2]?.replace(/\\(.)/g, '$1');
}

const name = String.raw`[\w-]+`;
const value = String.raw`"(?:\\.|[^"\\])*"|[^\s",;]*`;
const pair = `${name} ?= ?(?:${value})`;
const pairForm = new RegExp(`(${name}) ?= ?(${value})`, 'g');
const lastElement = new RegExp(`(?:^|,)( ?${pair}(?:[ ;]*; ?${pair})*[ ;]*)[ ,]*$`);

/**
 * An element of `Forwarded`, counted from the right. Only what is whole from there to the end is believed: a client may send a quote that it does
 * not close, so that what the proxies wrote behind it would be a part of its own element.
 */
function elementOf(list: string, fromRight: number): string {
  // Long runs of blanks would cost their square in time.
  let text = list.replace(/[ \t]+/g, ' ');
  for (let behind = 1; behind < fromRight; behind += 1) text = text.slice(0, lastElement.exec(text)?.index ?? 0);
  return lastElement.exec(text)?.[1] ?? '';
}

const nodeForm = /^"?(?:\[([^\]]+)\](?::[\w.-]+)?|([^:"]+)(?::[\w.-]+)?|([^"]*))"?$/;

/** The address of `192.0.2.1:1234`, `2001:db8::1`, `"[2001:db8::1]:443"`; undefined for `unknown` and names such as `_gateway`. */
function addressIn(node = ''): string | undefined {
  const [, bracketed, plain, bare] = nodeForm.exec(node) ?? [];
  const address = bracketed ?? plain ?? bare ?? '';
  return isIP(address) === 0 ? undefined : address;
}

const mappedForm = /^(?:::|(?:0+:){5})ffff:(?:([\d.]+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i;

/** An IPv4 address inside IPv6 as the IPv4 address that it is. */
function withoutMapping(address: string): string {
  const [, dotted, high, low] = mappedForm.exec(address) ?? [];
  if (high === undefined || low === undefined) return dotted ?? address;
  const bits = Number.parseInt(high, 16) * 0x10000 + Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.');
}

/** The groups of a part of an IPv6 address; an IPv4 address at its end takes the place of two. */
const groupsOf = (part: string): string[] =>
  part === '' ? [] : part.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : group));

/** The key that limits count by: an IPv4 address, or the /64 that one customer has of IPv6. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const [before, behind] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = Array<string>(Math.max(0, 8 - before.length - behind.length)).fill('0');
  const network = [...before, ...zeros, ...behind].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
