import {
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  type Message,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition } from '@grpc/grpc-js';

/** Both ends of a connection have these. */
export const connectionOptions = {
  'grpc.max_receive_message_length': 8 << 20,
  'grpc.keepalive_time_ms': 30_000,
  // Its bookkeeping costs every call, and nobody reads it.
  'grpc.enable_channelz': 0,
  // HTTP/2 begins with 64 KiB a connection, which a hundred calls fill.
  'grpc-node.flow_control_window': 4 << 20,
};

export type RpcDefinition = MethodDefinition<Message, Message>;

const known = new WeakMap<DescMethod, RpcDefinition>();

/** An rpc as grpc-js wants it, made from its descriptor. Unary, or a stream of answers; clients send one message. */
export function definitionOf(desc: DescMethod): RpcDefinition {
  let definition = known.get(desc);
  if (definition === undefined) {
    definition = toDefinition(desc);
    known.set(desc, definition);
  }
  return definition;
}

export const definitionsOf = (service: DescService): Record<string, RpcDefinition> =>
  Object.fromEntries(service.methods.map((desc) => [desc.localName, definitionOf(desc)]));

function toDefinition(desc: DescMethod): RpcDefinition {
  if (desc.methodKind !== 'unary' && desc.methodKind !== 'server_streaming') {
    throw new Error(`${desc} takes a stream`);
  }
  return {
    path: `/${desc.parent.typeName}/${desc.name}`,
    requestStream: false,
    responseStream: desc.methodKind === 'server_streaming',
    requestSerialize: encoder(desc.input),
    requestDeserialize: (bytes) => fromBinary(desc.input, bytes),
    responseSerialize: encoder(desc.output),
    responseDeserialize: (bytes) => fromBinary(desc.output, bytes),
  };
}

function encoder(schema: DescMessage) {
  return (message: Message): Buffer => {
    const bytes = toBinary(schema, message);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}
