import { defineEvents } from '@acsp/bus';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';

export const events = defineEvents({ task: TaskEventSchema });
