/** The common ground of both doors of a service. Times in handlers are dates, names are those of the contract's JSON. */
export { type Fields, fromMessage, requestFields, toJson, toMessage } from './codec.js';
export {
  aid,
  callerAid,
  integer,
  jsonObject,
  metadata,
  name,
  oneOf,
  queryInteger,
  text,
  textList,
  time,
  uuid,
} from './fields.js';
export {
  type AnyOperations,
  byAgent,
  byAnyone,
  type Call,
  checkOperations,
  type KeptAnswer,
  type Once,
  type Operation,
  type Operations,
  type Reply,
  unbuilt,
} from './operation.js';
export { parseFields, perform } from './perform.js';
export {
  type Agent,
  createPrincipals,
  type Idempotency,
  type Life,
  lifeOf,
  type Principal,
  type Principals,
  principalHeader,
  secretList,
} from './principal.js';
export { type Draft, fieldsOf, type Public, type PublicOf } from './public.js';
export { pathParameters, routeTable } from './route-table.js';
export {
  chooseForm,
  given,
  type MovedPath,
  movedPathsOf,
  type Route,
  routeOf,
  rpcName,
  serviceName,
  surfaceOf,
} from './surface.js';
