import { fileURLToPath } from 'node:url';
import { type Client, credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const contracts = fileURLToPath(new URL('../../../proto', import.meta.url));
const service = 'acsp.tasks.v1.TasksService';

export interface PlainCall {
  readonly address: string;
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
export async function plainCall({ address, method, request, headers = {} }: PlainCall): Promise<PlainAnswer> {
  const options = { keepCase: true, enums: String, includeDirs: [contracts] };
  const loaded = loadPackageDefinition(loadSync('acsp/tasks/v1/tasks.proto', options));
  const Service = service.split('.').reduce((scope: unknown, part) => (scope as Record<string, unknown>)[part], loaded);
  const client = new (Service as new (...options: unknown[]) => Client)(address, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(headers)) metadata.set(key, value);
  try {
    return await new Promise<PlainAnswer>((resolve) => {
      const settle = (error: { code: number } | null, answer?: unknown) =>
        resolve(error === null ? { answer } : { code: error.code });
      (client as unknown as Methods)[method]?.(request, metadata, settle);
    });
  } finally {
    client.close();
  }
}

type Methods = Record<string, (...args: unknown[]) => void>;
