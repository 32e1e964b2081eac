import { service as events } from '@acsp/events/service';
import { service as identity } from '@acsp/identity/service';
import { service as messaging } from '@acsp/messaging/service';
import type { Service } from '@acsp/service';
import { service as tasks } from '@acsp/tasks/service';

/** Every service of this repository. */
export const services: readonly Service[] = [events, identity, messaging, tasks];
