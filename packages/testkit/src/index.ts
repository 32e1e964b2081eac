/** The ground of tests: servers that a run shares, a database for each file, a whole service, and waiting without sleeps. */
export { type LocalServer, spawnSource } from '@acsp/local';
export { type BesideIdentityOptions, startBesideIdentity } from './beside-identity.js';
export { type TestClock, testClock } from './clock.js';
export { type TestDatabase, testDatabase } from './database.js';
export { deletionOf } from './deletion.js';
export { type EventReader, readEvents, type SeenEvent } from './event-reader.js';
export { eventually } from './eventually.js';
export { holdJobs, withHalfMinuteJob } from './jobs.js';
export { serveKnownAgents, stranger } from './known-agents.js';
export { collectLog, type LogLine, quietLog } from './log.js';
export { metric } from './metric.js';
export { newKey, type PostRequest, sendUnder, testRepeated } from './repeated.js';
export { compareSchema } from './schema.js';
export { describeWith, ownNats, ownRedis, serverUrl } from './servers.js';
export {
  type Answer,
  agent,
  anonymous,
  doorOf,
  principalSecret,
  type ServiceOptions,
  startService,
  type TestService,
} from './start-service.js';
export { testSchema } from './test-schema.js';
