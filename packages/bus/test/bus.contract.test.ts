import { describeWith } from '@acsp/testkit';
import { type Broker, natsBroker, postgresBroker } from './brokers.js';
import { deliversEvents } from './contract/delivery.js';
import { survivesFailures } from './contract/failures.js';
import { keepsFeeds } from './contract/feeds.js';
import { type Harness, harness } from './contract/harness.js';
import { survivesOutages } from './contract/outages.js';
import { sharesWork, worksInParallel } from './contract/replicas.js';

describeWith(['own nats', 'postgres'], 'a bus on JetStream', () => worksInParallel(keepsTheContract(natsBroker)));
describeWith('postgres', 'a bus in PostgreSQL', () => void keepsTheContract(postgresBroker));

/** Both buses mean the same: one contract holds them to it. */
function keepsTheContract(start: () => Promise<Broker>): Harness {
  const suite = harness(start);
  describe('delivers', () => deliversEvents(suite));
  describe('when handlers fail', () => survivesFailures(suite));
  describe('with replicas', () => sharesWork(suite));
  describe('when the broker is away', () => survivesOutages(suite));
  describe('feeds', () => keepsFeeds(suite));
  return suite;
}
