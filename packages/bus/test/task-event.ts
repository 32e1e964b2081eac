import { type Event, EventSchema } from '@acsp/contracts/events/v1/event';
import { type TaskEvent, TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { create } from '@bufbuild/protobuf';
import { anyPack, anyUnpack, timestampNow } from '@bufbuild/protobuf/wkt';
import { v7 as uuidv7 } from 'uuid';

/** An event about a task, recognisable by its title. */
export function taskEvent(title: string, id = uuidv7()): Event {
  const payload = anyPack(TaskEventSchema, create(TaskEventSchema, { taskId: uuidv7(), title }));
  return create(EventSchema, { id, type: 'task.created', occurredAt: timestampNow(), audience: ['global'], payload });
}

export const taskEvents = (count: number, prefix = ''): Event[] =>
  Array.from({ length: count }, (_, index) => taskEvent(`${prefix}${index}`));

export function titleOf(event: Event): string | undefined {
  const payload: TaskEvent | undefined = event.payload && anyUnpack(event.payload, TaskEventSchema);
  return payload?.title;
}
