export { parseBody, queryFields, readBody } from './body.js';
export { aid, integer, jsonObject, metadata, oneOf, queryInteger, text, textList, time, uuid } from './fields.js';
export { parseIsoTime } from './iso-time.js';
export { sendProblem } from './respond.js';
export { type Match, type Route, type RouteTable, routeTable } from './route-table.js';
export { type Doors, type DoorsOptions, serveDoors } from './serve-doors.js';
export { closeServer, type HttpServer, type HttpServerOptions, listen, serveHttp } from './server.js';
