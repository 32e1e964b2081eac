import { connect } from 'node:net';

/** Sends these bytes on a connection of its own, and answers all that comes until the server closes it, or until `isEnough`. */
export function sendRaw(url: string, text: string, isEnough = (_: string) => false): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let got = '';
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer within 10 s')));
    socket.on('data', (piece) => {
      got += piece;
      if (isEnough(got)) socket.destroy();
    });
    socket.once('error', reject).once('close', () => resolve(got));
    socket.write(text);
  });
}

export const statusesIn = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
