import { type Serving, serveRpc } from '@acsp/rpc';
import { createStack, every, type Health } from '@acsp/service';
import { serveHttp } from './server.js';

export interface DoorsOptions extends Serving {
  /** 0 takes a free port. */
  readonly httpPort: number;
  /** 0 takes a free port. */
  readonly grpcPort: number;
  /** What gRPC health follows. */
  readonly health: Health;
}

export interface Doors extends AsyncDisposable {
  /** The public door, such as `http://127.0.0.1:4103`. */
  readonly url: string;
  /** The contract door, `host:port`. */
  readonly address: string;
}

const healthIntervalMs = 1_000;

/** Opens both doors of a service on one table of operations. */
export async function serveDoors(options: DoorsOptions): Promise<Doors> {
  const { health, log, httpPort, grpcPort } = options;
  const stack = createStack();
  const rpc = stack.use(await serveRpc({ ...options, port: grpcPort }));
  stack.use(every(healthIntervalMs, async () => rpc.setServing((await health.ready()).ready), log));
  const http = stack.use(await serveHttp({ ...options, port: httpPort }));
  return { url: http.url, address: rpc.address, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}
