import type { IncomingMessage } from 'node:http';
import { clientAddress, clientProtocol, networkOf, parseTrust, type Trust } from './client-address.js';

const trust = (text: string): Trust => parseTrust(text) ?? { header: 'wrong', fromRight: 0 };
const request = (headers: object, remoteAddress = '10.0.0.1') =>
  ({ headers, socket: { remoteAddress } }) as IncomingMessage;

test.each([
  ['none', { 'x-forwarded-for': '1.1.1.1' }, '10.0.0.1'],
  ['x-forwarded-for', { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' }, '2.2.2.2'],
  ['x-forwarded-for:2', { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' }, '1.1.1.1'],
  ['x-forwarded-for:3', { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' }, '10.0.0.1'],
  ['X-Real-IP', { 'x-real-ip': '2001:db8::1' }, '2001:db8::1'],
  ['x-real-ip', { 'x-real-ip': 'unknown' }, '10.0.0.1'],
  ['x-real-ip', {}, '10.0.0.1'],
  ['x-real-ip', { 'x-real-ip': '' }, '10.0.0.1'],
  ['x-real-ip', { 'x-real-ip': '_gateway' }, '10.0.0.1'],
  ['x-forwarded-for', { 'x-forwarded-for': '192.0.2.1:1234' }, '192.0.2.1'],
  ['x-forwarded-for', { 'x-forwarded-for': '[2001:db8::1]:443' }, '2001:db8::1'],
  ['x-forwarded-for', { 'x-forwarded-for': '[2001:db8::1]' }, '2001:db8::1'],
  ['x-forwarded-for', { 'x-forwarded-for': '"[2001:db8::1]:443"' }, '2001:db8::1'],
  ['x-forwarded-for', { 'x-forwarded-for': '1.1.1.1,2001:db8::1' }, '2001:db8::1'],
  ['x-forwarded-for', { 'x-forwarded-for': '::ffff:192.0.2.1' }, '192.0.2.1'],
  ['x-forwarded-for', { 'x-forwarded-for': '::ffff:c000:0201' }, '192.0.2.1'],
  ['x-forwarded-for', { 'x-forwarded-for': '0:0:0:0:0:ffff:192.0.2.1' }, '192.0.2.1'],
  ['x-forwarded-for', { 'x-forwarded-for': '1.1.1.1, unknown' }, '10.0.0.1'],
  ['x-forwarded-for', { 'x-forwarded-for': '300.1.1.1' }, '10.0.0.1'],
  ['forwarded', { forwarded: 'for=192.0.2.1' }, '192.0.2.1'],
  ['Forwarded', { forwarded: 'For="[2001:db8:cafe::17]:4711"; Proto=https;by=203.0.113.43' }, '2001:db8:cafe::17'],
  ['forwarded', { forwarded: 'for=1.1.1.1, for="192.0.2.1:80";host="a,b;for=6.6.6.6"' }, '192.0.2.1'],
  ['forwarded', { forwarded: 'for="[2001:db8::1]:_a.b-c"' }, '2001:db8::1'],
  ['forwarded:2', { forwarded: 'for=1.1.1.1, for=192.0.2.1' }, '1.1.1.1'],
  ['forwarded', { forwarded: 'for=unknown' }, '10.0.0.1'],
  ['forwarded', { forwarded: 'for=_hidden' }, '10.0.0.1'],
  ['forwarded', { forwarded: 'proto=https' }, '10.0.0.1'],
  ['forwarded', { 'x-forwarded-for': '6.6.6.6' }, '10.0.0.1'],
  ['forwarded', { forwarded: 'for="\\[2001:db8::1\\]:4\\711"' }, '2001:db8::1'],
  ['forwarded', { forwarded: 'for=192.0.2.1:80;;proto=http;' }, '192.0.2.1'],
  ['forwarded', { forwarded: 'for=192.0.2.1, , ' }, '192.0.2.1'],
  ['forwarded:2', { forwarded: 'for=1.1.1.1,, for=192.0.2.1' }, '1.1.1.1'],
  ['forwarded:2', { forwarded: 'for=192.0.2.1' }, '10.0.0.1'],
  ['x-forwarded-for', { 'x-forwarded-for': '1.1.1.1, ' }, '1.1.1.1'],
  ['x-forwarded-for:2', { 'x-forwarded-for': '1.1.1.1,, 2.2.2.2' }, '1.1.1.1'],
  // A client sends a quote that it does not close, and the proxy adds its element behind it.
  ['forwarded', { forwarded: 'for=6.6.6.6;x=", for="[2001:db8::1]"' }, '2001:db8::1'],
  ['forwarded', { forwarded: 'for=6.6.6.6;x=", for=192.0.2.1' }, '192.0.2.1'],
  ['forwarded', { forwarded: 'for="6.6.6.6, for="[2001:db8::1]:443";proto=https' }, '2001:db8::1'],
  ['forwarded:2', { forwarded: 'for=6.6.6.6;x=", for="[2001:db8::1]", for=10.0.0.2' }, '2001:db8::1'],
  ['forwarded', { forwarded: 'for=6.6.6.6;x="\\", for="[2001:db8::1]"' }, '2001:db8::1'],
])('with TRUST_PROXY=%s takes %j as %s', (text, headers, address) => {
  expect(clientAddress(request(headers), trust(text))).toBe(address);
});

test.each([
  ['none', { 'x-forwarded-proto': 'https' }, 'http'],
  ['x-forwarded-for', { 'x-forwarded-proto': 'https' }, 'https'],
  ['x-forwarded-for', { 'x-forwarded-proto': 'https, http' }, 'http'],
  ['x-forwarded-for', {}, 'http'],
  ['forwarded', { forwarded: 'for=1.1.1.1;proto=https' }, 'https'],
  ['forwarded', { forwarded: 'for=1.1.1.1;proto="HTTPS"' }, 'https'],
  ['forwarded', { 'x-forwarded-proto': 'https' }, 'http'],
])('with TRUST_PROXY=%s takes the protocol of %j as %s', (text, headers, protocol) => {
  expect(clientProtocol(request(headers), trust(text))).toBe(protocol);
});

test.each(['for=a', 'for="a', ',', ';', ' ', ',for="', ';a=b', '\\"', 'a=a,', ' ;'])(
  'a header of %j over and over takes no time that anybody notices',
  (piece) => {
    const startedAt = performance.now();
    const forwarded = `for=a${piece.repeat(16_000 / piece.length)}!`;
    for (const text of ['forwarded', 'forwarded:9']) clientAddress(request({ forwarded }), trust(text));
    expect(performance.now() - startedAt).toBeLessThan(200);
  },
);

test('writes an IPv4 peer of an IPv6 socket as IPv4', () => {
  expect(clientAddress(request({}, '::ffff:192.0.2.1'), trust('none'))).toBe('192.0.2.1');
});

const wrong = [
  '',
  'x y',
  'x-forwarded-for:0',
  'x:y',
  '2',
  'false',
  'off',
  'true',
  'None',
  'loopback',
  'host',
  'authorization',
];
test.each(wrong)('refuses TRUST_PROXY=%j', (text) => {
  expect(parseTrust(text)).toBeUndefined();
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:0:1:aaaa::1', '2001:db8:0:1::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['2001:db8::1:a:b:c:d', '2001:db8:0:1::/64'],
  ['2001::1:a:b:c:d', '2001:0:0:1::/64'],
  ['::1:2:3:4:5:6', '0:0:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['64:ff9b::1:192.0.2.1', '64:ff9b:0:0::/64'],
  ['1::2:3:4:5:192.0.2.1', '1:0:2:3::/64'],
])('counts %s as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
