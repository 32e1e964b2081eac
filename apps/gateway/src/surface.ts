import { EventsService } from '@acsp/contracts/events/v1/events';
import { IdentityService } from '@acsp/contracts/identity/v1/identity';
import { MessagingService } from '@acsp/contracts/messaging/v1/messaging';
import { SearchService } from '@acsp/contracts/search/v1/search';
import { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { WebhookService } from '@acsp/contracts/webhook/v1/webhook';
import { WorkspaceService } from '@acsp/contracts/workspace/v1/workspace';
import { type MovedPath, movedPathsOf, type Route, surfaceOf } from '@acsp/operation';

const contracts = [
  IdentityService,
  SearchService,
  MessagingService,
  TasksService,
  WorkspaceService,
  EventsService,
  WebhookService,
];

/** Every public path, from the options in proto/. */
export const routes: readonly Route[] = surfaceOf(contracts);

/** Paths that are no more (interface, section 7.1). */
export const movedPaths: readonly MovedPath[] = movedPathsOf(contracts);
