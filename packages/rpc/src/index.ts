/** gRPC as a transport: servers and clients over descriptors. Knows no operation; errors travel as google.rpc details. */
export { connectRpc, type RpcCallOptions, type RpcConnection } from './client.js';
export { type RpcCall, type RpcServer, type RpcServerOptions, serveRpc } from './server.js';
