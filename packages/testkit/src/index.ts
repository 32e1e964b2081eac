/** What tests stand on. One run shares its servers; each file has a database of its own. */

export { type LocalServer, spawnSource } from '@acsp/local';
export { type TestClock, testClock } from './clock.js';
export { type TestDatabase, testDatabase } from './database.js';
export { eventually } from './eventually.js';
export { describeWith, type Need, ownNats, ownRedis, type ServerReport, servers, serverUrl } from './servers.js';
