/** One process of a service: defined as data, run from its environment, observed at its ops door, stopped in order. */
export { createHealth, type Health } from './create-health.js';
export { createLogger, type Logger } from './create-logger.js';
export { createStack, type Stack, startOnStack } from './create-stack.js';
export { defineService } from './define-service.js';
export type { BaseContext, Overrides, Running, Runtime, Service } from './definition.js';
export type { Departed } from './departures.js';
export { cacheActive, createDirectory, type Directory, requireActive } from './directory.js';
export { gatherKeys } from './gather-keys.js';
export { listenOn } from './listen-on.js';
export { ConfigError, loadConfig } from './load-config.js';
export { createPeer, type Peer, type PeerCall } from './peer.js';
export { run } from './run.js';
export { secrets, settings } from './settings.js';
