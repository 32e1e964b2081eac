import {
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  type Message,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition } from '@grpc/grpc-js';

/** Of both ends of a connection. */
export const connectionOptions = {
  'grpc.max_receive_message_length': 8 << 20,
  'grpc.keepalive_time_ms': 30_000,
  // Its bookkeeping costs every call, and nobody asks for it.
  'grpc.enable_channelz': 0,
  // HTTP/2 begins with 64 KiB a connection, which a hundred calls fill.
  'grpc-node.flow_control_window': 4 << 20,
};

export type UnaryMethod = MethodDefinition<Message, Message> & { readonly desc: DescMethod };

const known = new WeakMap<DescService, ReadonlyMap<string, UnaryMethod>>();

/** What grpc-js needs to know of a service, made from its descriptor. Contracts are unary: streams to agents go over HTTP. */
export function methodsOf(service: DescService): ReadonlyMap<string, UnaryMethod> {
  let methods = known.get(service);
  if (methods === undefined) {
    methods = new Map(service.methods.map((desc) => [desc.localName, toDefinition(service, desc)]));
    known.set(service, methods);
  }
  return methods;
}

function toDefinition(service: DescService, desc: DescMethod): UnaryMethod {
  if (desc.methodKind !== 'unary') throw new Error(`${desc} is not unary`);
  return {
    desc,
    path: `/${service.typeName}/${desc.name}`,
    requestStream: false,
    responseStream: false,
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
