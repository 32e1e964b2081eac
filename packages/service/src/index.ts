export { type Clock, systemClock } from './clock.js';
export { createHealth, type Health, type Readiness } from './create-health.js';
export { createLogger, type Logger, type LoggerOptions } from './create-logger.js';
export { createStack, type Stack, type StackOptions } from './create-stack.js';
export { every } from './every.js';
export { loadConfig } from './load-config.js';
export { type RunOptions, type Runtime, run } from './run.js';
export { type Ops, type OpsOptions, serveOps } from './serve-ops.js';
