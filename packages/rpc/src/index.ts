/** gRPC as a transport: servers and clients over descriptors. Knows no operation; errors travel as google.rpc details. */
export { connectRpc, type RpcCallOptions } from './client.js';
export { type RpcCall, type RpcServer, serveRpc } from './server.js';
