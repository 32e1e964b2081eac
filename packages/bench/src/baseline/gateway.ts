import { Agent, type Server } from 'node:http';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';

/** Express and http-proxy-middleware with connections kept open, and nothing else. */
export function startGateway(target: string): Promise<Server> {
  const app = express().disable('x-powered-by');
  app.use(createProxyMiddleware({ target, agent: new Agent({ keepAlive: true, maxSockets: 256 }) }));
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server));
  });
}
