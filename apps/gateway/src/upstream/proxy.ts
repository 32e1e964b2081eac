import { EventEmitter } from 'node:events';
import { Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import { AppError } from '@acsp/errors';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import type { Call } from '../exchange.js';

/** A service's public door, over http-proxy-middleware. */
export interface Upstream extends Disposable {
  /**
   * Sends a request on: method, target and bytes as they came, the headers as they are now. Resolves with the head of the answer, its body
   * yet unread; rejects with SERVICE_UNAVAILABLE when the service cannot be reached, breaks off or stays silent. It ends when its client goes, except
   * under an Idempotency-Key, whose caller comes back for the outcome, and where the outcome decides over a spent signature.
   */
  forward(call: Call): Promise<IncomingMessage>;
}

/** `timeoutMs`: how long the service may stay silent. */
export function createProxy(baseUrl: string, timeoutMs: number): Upstream {
  const { protocol, hostname, port } = new URL(baseUrl);
  // The agent's time-out is what bounds a connection attempt; it also closes idle sockets before the service does.
  const agent = new Agent({ keepAlive: true, timeout: timeoutMs });
  const middleware = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target: { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port },
    agent,
    proxyTimeout: timeoutMs,
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [settle],
  });
  return {
    forward: ({ request, response, idempotency, signature }) =>
      new Promise((resolve, reject) => {
        const pending = new Pending(resolve, reject);
        const runsToItsEnd = idempotency !== undefined || signature !== undefined;
        if (!runsToItsEnd) response.once('close', () => pending.emit('close'));
        middleware(request, pending as unknown as ServerResponse, reject).catch(reject);
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/**
 * The response as the proxy knows it, which only listens to it. The proxy destroys its own request with the response that it was given, and the
 * client's own would end those requests too that must run to their end.
 */
class Pending extends EventEmitter {
  destroyed = false;
  readonly resolve: (answer: IncomingMessage) => void;
  readonly reject: (error: unknown) => void;

  constructor(resolve: (answer: IncomingMessage) => void, reject: (error: unknown) => void) {
    super();
    this.resolve = resolve;
    this.reject = reject;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

const settle: Plugin = (proxy) => {
  const pendingOf = (response: unknown) => response as Pending;
  proxy.on('proxyRes', (answer, _, response) => pendingOf(response).resolve(answer));
  const fail = (cause: Error, _?: unknown, response?: unknown) =>
    pendingOf(response).reject(new AppError('SERVICE_UNAVAILABLE', { cause }));
  proxy.on('error', fail);
  proxy.on('econnreset', fail);
};
