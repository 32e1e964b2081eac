import { Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import { AppError } from '@acsp/errors';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import type { Call } from '../exchange.js';

/** A service's public door, over http-proxy-middleware. */
export interface Upstream extends Disposable {
  /**
   * Sends a request on: method, target and bytes as they came, the headers as they are now. Resolves with the head of the answer, its body
   * yet unread; rejects with SERVICE_UNAVAILABLE when the service cannot be reached, breaks off or stays silent.
   */
  forward(call: Call): Promise<IncomingMessage>;
}

interface Waiting {
  readonly resolve: (answer: IncomingMessage) => void;
  readonly reject: (error: unknown) => void;
}

type Forwarded = IncomingMessage & { waiting?: Waiting };

export function createProxy(baseUrl: string, timeoutMs: number): Upstream {
  const { protocol, hostname, port } = new URL(baseUrl);
  // The agent's time-out is what bounds a connection attempt; it also closes idle sockets before the service does.
  const agent = new Agent({ keepAlive: true, timeout: timeoutMs });
  const middleware = createProxyMiddleware<Forwarded, ServerResponse>({
    target: { protocol, hostname, port },
    agent,
    proxyTimeout: timeoutMs,
    // The request's own target, unparsed: the services and the signatures see the same text.
    toProxy: true,
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [settle],
  });
  return {
    forward: ({ request, response }) =>
      new Promise((resolve, reject) => {
        (request as Forwarded).waiting = { resolve, reject };
        middleware(request, response, reject).catch(reject);
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

const settle: Plugin<Forwarded, ServerResponse> = (proxy) => {
  proxy.on('proxyRes', (answer, request) => request.waiting?.resolve(answer));
  const fail = (cause: Error, request: Forwarded) =>
    request.waiting?.reject(new AppError('SERVICE_UNAVAILABLE', { cause }));
  proxy.on('error', fail);
  proxy.on('econnreset', fail);
};
