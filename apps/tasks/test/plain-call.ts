import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Client, credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { protoPath as healthProto } from 'grpc-health-check';

const packages = createRequire(import.meta.url);
const reflectionProto = packages
  .resolve('@grpc/reflection')
  .replace('src/index.js', 'proto/grpc/reflection/v1/reflection.proto');
const contracts = fileURLToPath(new URL('../../../proto', import.meta.url));

const services = {
  health: [healthProto, 'grpc.health.v1.Health'],
  reflection: [reflectionProto, 'grpc.reflection.v1.ServerReflection'],
  tasks: ['acsp/tasks/v1/tasks.proto', 'acsp.tasks.v1.TasksService'],
} as const;

export interface PlainCall {
  readonly address: string;
  readonly service: keyof typeof services;
  readonly method: string;
  readonly request: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface PlainAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely.
  readonly answer?: any;
  /** gRPC status code of the failure. */
  readonly code?: number;
}

/** A call by a client that shares no code with ours: made from the .proto file, by other libraries, without a principal of its own. */
export async function plainCall({ address, service, method, request, headers = {} }: PlainCall): Promise<PlainAnswer> {
  const [file, name] = services[service];
  const loaded = loadPackageDefinition(loadSync(file, { keepCase: true, enums: String, includeDirs: [contracts] }));
  const Service = name.split('.').reduce((scope: unknown, part) => (scope as Record<string, unknown>)[part], loaded);
  const client = new (Service as new (...options: unknown[]) => Client)(address, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(headers)) metadata.set(key, value);
  try {
    return await send(client as unknown as Methods, { method, request, metadata, streams: service === 'reflection' });
  } finally {
    client.close();
  }
}

type Methods = Record<string, (...args: unknown[]) => NodeJS.ReadWriteStream>;
interface Sending {
  readonly method: string;
  readonly request: object;
  readonly metadata: Metadata;
  readonly streams: boolean;
}

const send = (client: Methods, { method, request, metadata, streams }: Sending) =>
  new Promise<PlainAnswer>((resolve) => {
    const settle = (error: { code: number } | null, answer?: unknown) =>
      resolve(error === null ? { answer } : { code: error.code });
    if (!streams) return void client[method]?.(request, metadata, settle);
    const stream = client[method]?.(metadata);
    stream?.once('data', (answer: unknown) => settle(null, answer)).once('error', settle as unknown as () => void);
    stream?.write(request as unknown as string);
    stream?.end();
  });
