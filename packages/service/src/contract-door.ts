import {
  type Call,
  type Fields,
  perform,
  principalHeader,
  type Route,
  requestFields,
  toMessage,
} from '@acsp/operation';
import { type RpcCall, type RpcServer, serveRpc } from '@acsp/rpc';
import type { Message } from '@bufbuild/protobuf';
import { type Answering, recordEnd, refusal, type Served, type Serving, servedBy } from './serving.js';

/** The contract door of a service: every call needs a principal, and runs the same operation as the public door. */
export function serveContractDoor(serving: Serving & { readonly port: number }): Promise<RpcServer> {
  const served = new Map([...servedBy(serving).values()].map((one) => [one.desc, one]));
  return serveRpc({
    ...serving,
    handle(desc, request, call) {
      const incoming = { request, call, served: served.get(desc) as Served };
      return desc.methodKind === 'server_streaming' ? stream(serving, incoming) : unary(serving, incoming);
    },
  });
}

interface Incoming {
  readonly served: Served;
  readonly request: Message;
  readonly call: RpcCall;
}

async function unary(serving: Serving, incoming: Incoming): Promise<Message> {
  const { desc } = incoming.served;
  const answering: Answering = { door: 'contract', startedAt: performance.now(), desc };
  let code = 'OK';
  try {
    return toMessage(desc.output, await run(serving, incoming, answering));
  } catch (thrown) {
    const error = refusal(serving, answering, thrown);
    code = error.code;
    throw error;
  } finally {
    recordEnd(answering, code);
  }
}

async function* stream(serving: Serving, incoming: Incoming): AsyncGenerator<Message> {
  const { desc } = incoming.served;
  const answering: Answering = { door: 'contract', startedAt: performance.now(), desc };
  let code = 'CLIENT_GONE';
  try {
    const items = run(serving, incoming, answering) as AsyncIterable<unknown>;
    for await (const item of items) yield toMessage(desc.output, item);
    code = 'OK';
  } catch (thrown) {
    if (incoming.call.signal.aborted) return;
    const error = refusal(serving, answering, thrown);
    code = error.code;
    throw error;
  } finally {
    recordEnd(answering, code);
  }
}

function run({ principals, context }: Serving, { served, request, call }: Incoming, answering: Answering): unknown {
  const { operation, route, desc } = served;
  const caller = principals.verify(call.header(principalHeader));
  answering.caller = caller;
  const fields = requestFields(desc.input, request);
  if (operation.callers === 'agents' && caller.aid !== undefined) fillCaller(fields, route, caller.aid);
  return perform(operation, route, { context, fields, call: toCall(call, caller) });
}

function toCall(rpc: RpcCall, caller: Call['caller']): Call {
  return {
    caller,
    deadline: rpc.deadline,
    once: undefined,
    reply: { headers: {} },
    get signal() {
      return rpc.signal;
    },
  };
}

/** The principal of a contract call names the AID that the public door requires as a field. */
function fillCaller(fields: Fields, route: Route | undefined, aid: string): void {
  const names = route?.signature.aid ?? [];
  const [first] = names;
  if (first !== undefined && !names.some((name) => name in fields)) fields[first] = aid;
}
