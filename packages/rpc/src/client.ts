import { injectTrace, span } from '@acsp/telemetry';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { Client, credentials, Metadata, type ServiceError, type StatusObject } from '@grpc/grpc-js';
import { connectionOptions, definitionOf } from './definition.js';
import { fromStatus } from './status.js';

export interface RpcCallOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
}

/** A connection to a service. Failures are AppErrors: the peer's own, or SERVICE_UNAVAILABLE when it is away or late. */
export interface RpcConnection extends Disposable {
  unary(method: DescMethod, request: Message, options: RpcCallOptions): Promise<Message>;
  /** Leaving the loop ends the call. */
  stream(method: DescMethod, request: Message, options: RpcCallOptions): AsyncIterable<Message>;
}

/** `address`: `host:port`, or `dns:///name:port` to spread calls over every address of a headless Service. Connects when first used. */
export function connectRpc(address: string): RpcConnection {
  const client = new Client(address, credentials.createInsecure(), {
    ...connectionOptions,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2_000,
    'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  });
  return {
    unary: (method, request, options) =>
      span(`rpc ${definitionOf(method).path}`, { kind: 'client' }, () => unary(client, method, request, options)),
    stream: (method, request, options) => stream(client, method, request, options),
    [Symbol.dispose]: () => client.close(),
  };
}

function metadataOf(headers: RpcCallOptions['headers']): Metadata {
  const carrier = { ...headers };
  injectTrace(carrier);
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(carrier)) metadata.set(key, value);
  return metadata;
}

function unary(client: Client, method: DescMethod, request: Message, { headers, deadline, signal }: RpcCallOptions) {
  const { path, requestSerialize, responseDeserialize } = definitionOf(method);
  return new Promise<Message>((resolve, reject) => {
    const call = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      metadataOf(headers),
      { deadline },
      (error, answer) => {
        signal?.removeEventListener('abort', cancel);
        if (error !== null || answer === undefined) reject(toError(error));
        else resolve(answer);
      },
    );
    const cancel = () => call.cancel();
    if (signal?.aborted) cancel();
    else signal?.addEventListener('abort', cancel, { once: true });
  });
}

async function* stream(
  client: Client,
  method: DescMethod,
  request: Message,
  { headers, deadline, signal }: RpcCallOptions,
): AsyncGenerator<Message> {
  const { path, requestSerialize, responseDeserialize } = definitionOf(method);
  const call = client.makeServerStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    request,
    metadataOf(headers),
    {
      deadline,
    },
  );
  const cancel = () => call.cancel();
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    yield* call as AsyncIterable<Message>;
  } catch (error) {
    throw toError(error as ServiceError);
  } finally {
    signal?.removeEventListener('abort', cancel);
    call.cancel();
  }
}

const toError = (error: ServiceError | null) =>
  fromStatus(error ?? ({ code: 13, details: '', metadata: new Metadata() } satisfies StatusObject));
