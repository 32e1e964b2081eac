import {
  type Call,
  type Draft,
  fromMessage,
  type Principal,
  type Principals,
  type Public,
  principalHeader,
  toMessage,
} from '@acsp/operation';
import { connectRpc, type RpcCallOptions } from '@acsp/rpc';
import type { DescMethod, MessageShape } from '@bufbuild/protobuf';
import type { GenService, GenServiceMethods } from '@bufbuild/protobuf/codegenv2';

export interface PeerOptions {
  /** `host:port`, or `dns:///name:port` to spread calls over every address of a headless Service. */
  readonly address: string;
  readonly principals: Principals;
  /** The calling service; the principal of calls that are made for no agent. */
  readonly name: string;
}

export interface PeerCall {
  /** The call that this one serves: its deadline, end and request id go along. */
  readonly call?: Pick<Call, 'signal' | 'deadline' | 'caller'>;
  /** On whose behalf; absent calls as the service itself. */
  readonly caller?: Principal;
  /** 5 s when absent, without end for a stream; the deadline of `call` may come first. */
  readonly timeoutMs?: number;
}

type Answer<Method extends GenServiceMethods[string]> = Public<MessageShape<Method['output']>>;

/** Every rpc of another service as a function. Failures are AppErrors: the peer's own, or SERVICE_UNAVAILABLE when it is away or late. */
export type Peer<Service> =
  Service extends GenService<infer Methods extends GenServiceMethods>
    ? {
        readonly [Name in keyof Methods]: (
          request: Draft<MessageShape<Methods[Name]['input']>>,
          options?: PeerCall,
        ) => Methods[Name]['methodKind'] extends 'server_streaming'
          ? AsyncIterable<Answer<Methods[Name]>>
          : Promise<Answer<Methods[Name]>>;
      } & Disposable
    : never;

const defaultTimeoutMs = 5_000;

export function createPeer<Methods extends GenServiceMethods>(
  service: GenService<Methods>,
  { address, principals, name }: PeerOptions,
): Peer<GenService<Methods>> {
  const connection = connectRpc(address);
  const optionsOf = ({ call, caller, timeoutMs }: PeerCall, standardMs: number): RpcCallOptions => {
    const own: Principal = { name, via: 'service', requestId: call?.caller.requestId ?? '' };
    return {
      headers: { [principalHeader]: principals.sign(caller ?? own) },
      deadline: Math.min(Date.now() + (timeoutMs ?? standardMs), call?.deadline ?? Number.POSITIVE_INFINITY),
      signal: call?.signal,
    };
  };
  const unary =
    (desc: DescMethod) =>
    async (request: object, options: PeerCall = {}) =>
      fromMessage(
        desc.output,
        await connection.unary(desc, toMessage(desc.input, request), optionsOf(options, defaultTimeoutMs)),
      );
  const streaming = (desc: DescMethod) =>
    async function* (request: object, options: PeerCall = {}) {
      const answers = connection.stream(
        desc,
        toMessage(desc.input, request),
        optionsOf(options, Number.POSITIVE_INFINITY),
      );
      for await (const answer of answers) yield fromMessage(desc.output, answer);
    };
  const methods = service.methods.map((desc) => [
    desc.localName,
    desc.methodKind === 'server_streaming' ? streaming(desc) : unary(desc),
  ]);
  return Object.assign(Object.fromEntries(methods), { [Symbol.dispose]: () => connection[Symbol.dispose]() });
}
