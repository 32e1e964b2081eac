import { AppError } from '@acsp/errors';
import { type Call, type Fields, perform, principalHeader, requestFields, type Route, toMessage } from '@acsp/operation';
import { type RpcCall, type RpcServer, serveRpc } from '@acsp/rpc';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { recordEnd, refusal, type Served, type Serving, servedBy } from './serving.js';

/** The contract door of a service: every call needs a principal, and runs the same operation as the public door. */
export function serveContractDoor(options: Serving & { readonly port: number }): Promise<RpcServer> {
  const served = new Map([...servedBy(options).values()].map((one) => [one.desc, one]));
  return serveRpc({
    ...options,
    handle(desc, request, call) {
      const found = served.get(desc) as Served;
      return desc.methodKind === 'server_streaming'
        ? stream(options, found, { request, call })
        : unary(options, found, { request, call });
    },
  });
}

interface Incoming {
  readonly request: Message;
  readonly call: RpcCall;
}

async function unary(serving: Serving, served: Served, incoming: Incoming): Promise<Message> {
  return recorded(serving, served.desc, async () => {
    const output = await run(serving, served, incoming);
    return toMessage(served.desc.output, output);
  });
}

async function* stream(serving: Serving, served: Served, incoming: Incoming): AsyncGenerator<Message> {
  const { output } = served.desc;
  const items = await recorded(serving, served.desc, async () => run(serving, served, incoming));
  for await (const item of items as AsyncIterable<unknown>) yield toMessage(output, item);
}

function run({ principals, context }: Serving, { operation, route, desc }: Served, { request, call }: Incoming): unknown {
  const caller = principals.verify(call.header(principalHeader));
  const fields = requestFields(desc.input, request);
  if (operation.callers === 'agents' && caller.aid !== undefined) fillCaller(fields, route, caller.aid);
  const own: Call = { caller, signal: call.signal, deadline: call.deadline, once: undefined, reply: { headers: {} } };
  return perform(operation, route, { context, fields, call: own });
}

/** Where the public door asks for the caller's AID, the principal of a contract call already names it. */
function fillCaller(fields: Fields, route: Route | undefined, aid: string): void {
  const names = route?.signature.aid ?? [];
  const [first] = names;
  if (first !== undefined && !names.some((name) => name in fields)) fields[first] = aid;
}

async function recorded<T>(serving: Serving, desc: DescMethod, work: () => Promise<T>): Promise<T> {
  const ended = { door: 'contract', desc, startedAt: performance.now() } as const;
  try {
    const result = await work();
    recordEnd(ended, 'OK');
    return result;
  } catch (thrown) {
    const error: AppError = refusal(serving.log, ended, thrown);
    recordEnd(ended, error.code);
    throw error;
  }
}
