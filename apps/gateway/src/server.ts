import { createServer, type RequestListener } from 'node:http';
import { type OpenServer, openServer } from '@acsp/http';
import { type Logger, listenOn, startOnStack } from '@acsp/service';
import express from 'express';
import { deferContinue } from './body.js';
import { answerClientError, answerConnect } from './client-error.js';
import type { Config } from './config.js';
import { type Context, createContext, type Overrides } from './context.js';
import { handleRequest } from './handle-request.js';
import { resolveTarget } from './request-target.js';

const drainMs = 8_000;

/** Clients get this long for the head and for the whole of a request; a slow one must not hold a connection. */
const patience = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 65_000,
  // Node's own refusal has neither a problem body nor a request id; ours is in handleRequest.
  requireHostHeader: false,
};

/** Opens the public door of the whole API. Rejects with a ConfigError where there is no place for spent signatures. */
export function start(config: Config, log: Logger, overrides: Overrides = {}): Promise<OpenServer> {
  return startOnStack({ log }, async (stack) => {
    const context = createContext(stack, { config, log, overrides });
    const door = stack.use(await openDoor(context));
    stack.defer(() => context.streams.closeAll());
    return door;
  });
}

function openDoor(context: Context): Promise<OpenServer> {
  const { HOST, PORT } = context.config;
  // Routing is our own table: Express tries its layers one after the other.
  const app = express().disable('x-powered-by').disable('query parser');
  app.use((request, response) => handleRequest(context, request, response));
  const serve: RequestListener = (request, response) => {
    resolveTarget(request);
    app(request, response);
  };
  const server = createServer(patience, serve);
  server.on('clientError', (error, socket) => void answerClientError(error, socket));
  server.on('connect', (request, socket) => void answerConnect(request, socket));
  server.on('checkContinue', (request, response) => {
    deferContinue(request);
    server.emit('request', request, response);
  });
  // An expectation that nobody knows is no reason to refuse (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Node drops headers beyond a thousand. One that frames the body must not hide there: the body would go on as a request of its own.
  server.maxHeadersCount = 0;
  return listenOn('HOST', () => openServer(server, { port: PORT, host: HOST, drainMs }));
}
