import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createTurns } from '@acsp/time';
import pg from 'pg';

/** A server that gives its one connection of PostgreSQL to all clients, for a statement each: what poolers do in transaction mode. */
export async function transactionPooler(databaseUrl: string): Promise<AsyncDisposable & { readonly url: string }> {
  const shared = new pg.Client(databaseUrl);
  shared.on('error', () => {});
  await shared.connect();
  const { stream } = (shared as unknown as { connection: { stream: Socket } }).connection;
  // The protocol goes through as it is from here on.
  stream.removeAllListeners('data').on('error', () => {});
  const turns = createTurns();
  const server = createServer((client) => {
    client.on('error', () => {});
    client.once('data', () => {
      client.write(ready);
      let request = Buffer.alloc(0);
      client.on('data', (chunk) => {
        request = Buffer.concat([request, chunk]);
        if (request[0] !== simpleQuery && !request.subarray(-sync.length).equals(sync)) return;
        const whole = request;
        request = Buffer.alloc(0);
        void turns(() => exchange(stream, whole, client));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgresql://acsp@127.0.0.1:${port}/any`,
    async [Symbol.asyncDispose]() {
      stream.destroy();
      server.close();
    },
  };
}

/** Resolves once PostgreSQL is ready for another statement. */
function exchange(server: Socket, request: Buffer, client: Socket): Promise<void> {
  return new Promise((resolve) => {
    const onAnswer = (answer: Buffer) => {
      client.write(answer);
      if (!answer.subarray(-6, -1).equals(readyForQuery)) return;
      server.off('data', onAnswer);
      resolve();
    };
    server.on('data', onAnswer).write(request);
  });
}

const simpleQuery = 'Q'.charCodeAt(0);
const sync = Buffer.from([0x53, 0, 0, 0, 4]);
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);
/** AuthenticationOk and ReadyForQuery. */
const ready = Buffer.from([...[0x52, 0, 0, 0, 8, 0, 0, 0, 0], ...readyForQuery, 0x49]);
