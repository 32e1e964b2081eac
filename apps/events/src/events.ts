import { defineEvents } from '@acsp/bus';
import { RadioEventSchema, WatchEventSchema } from '@acsp/contracts/events/v1/announcements';

/** The announcements of the service, see proto/acsp/events/v1/announcements.proto. */
export const events = defineEvents({ radio: RadioEventSchema, watch: WatchEventSchema });
