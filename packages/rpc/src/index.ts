export { type CallOptions, type RpcClient, type RpcClientOf, type RpcClientOptions, rpcClient } from './client.js';
export {
  type AnyOperation,
  byAgent,
  byAnyone,
  byService,
  type Fields,
  given,
  type Operation,
  type Operations,
} from './operation.js';
export { parseFields, perform, type Serving } from './perform.js';
export {
  type Agent,
  createPrincipals,
  type Principal,
  type Principals,
  principalHeader,
  type Via,
} from './principal.js';
export { toPublicJson } from './public-json.js';
export { type RpcServer, type RpcServerOptions, serveRpc } from './server.js';
