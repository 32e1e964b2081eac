/** HTTP as a transport: bodies, answers, event streams, servers. Knows no operation. */
export { parseBody, pathOf, queryFields, readBody } from './body.js';
export {
  createOpenStreams,
  type EventSink,
  type OpenStreams,
  type PushedEvents,
  pushedEvents,
  type StreamedEvent,
  sendEvents,
} from './event-stream.js';
export { type Answer, send, sendProblem } from './respond.js';
export { type OpenServer, openServer, urlOf } from './server.js';
