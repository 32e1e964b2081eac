/** One process of a service: defined as data, run from its environment, observed at its ops door, stopped in order. */
export { createHealth, type Health, type Readiness } from './create-health.js';
export { createLogger, type Logger, type LoggerOptions } from './create-logger.js';
export { createStack, type Stack, type StackOptions, startOnStack } from './create-stack.js';
export { defineService } from './define-service.js';
export type {
  Background,
  BaseContext,
  Definition,
  Job,
  Overrides,
  Running,
  Runtime,
  Service,
} from './definition.js';
export { ConfigError, loadConfig } from './load-config.js';
export { createPeer, type Peer, type PeerCall } from './peer.js';
export { type RunOptions, run } from './run.js';
export { type OpsOptions, serveOps } from './serve-ops.js';
export { secrets, settings } from './settings.js';
