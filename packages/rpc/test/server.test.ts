import { TasksService } from '@acsp/contracts/tasks/v1/tasks';
import { AppError } from '@acsp/errors';
import { create, fromBinary, type Message } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { EmptySchema, type FileDescriptorProto, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { Client, credentials, status } from '@grpc/grpc-js';
import type { RpcConnection } from '../src/client.js';
import { connectRpc, type RpcCall, type RpcServer, serveRpc } from '../src/index.js';

const { getTask } = TasksService.method;

let server: RpcServer;
let connection: RpcConnection;
let raw: Client;
let handle: (request: Message, call: RpcCall) => Promise<Message>;

beforeEach(async () => {
  server = await serveRpc({
    service: TasksService,
    host: '127.0.0.1',
    port: 0,
    handle: (_method, request, call) => handle(request, call),
  });
  connection = connectRpc(server.address);
  raw = new Client(server.address, credentials.createInsecure());
});
afterEach(async () => {
  raw.close();
  connection[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const request = create(getTask.input, { id: '7' });
const answer = create(getTask.output, {});
const call = (options: { headers?: Record<string, string>; deadline?: number } = {}) =>
  connection.unary(getTask, request, { headers: {}, deadline: Date.now() + 5_000, ...options });

const asBytes = (value: Buffer) => value;

/** grpc.health.v1.Health/Check: 1 is SERVING, 2 is NOT_SERVING. */
const health = (name: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const bytes = Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name)]);
    raw.makeUnaryRequest('/grpc.health.v1.Health/Check', asBytes, asBytes, bytes, (error, value) =>
      error ? reject(error) : resolve(value?.[1]),
    );
  });

test('a call arrives with its headers and its deadline', async () => {
  let seen: RpcCall | undefined;
  handle = async (given, rpc) => {
    expect(given).toEqual(request);
    seen = rpc;
    return answer;
  };
  const deadline = Date.now() + 3_000;
  expect(await call({ headers: { 'acsp-principal': 'p' }, deadline })).toEqual(answer);
  expect(seen?.header('acsp-principal')).toBe('p');
  expect(seen?.header('other')).toBeUndefined();
  expect(Math.abs((seen?.deadline ?? 0) - deadline)).toBeLessThan(200);
  await call({ deadline: Number.POSITIVE_INFINITY });
  expect(seen?.deadline).toBe(Number.POSITIVE_INFINITY);
});

test('an error arrives as it was thrown, but for its cause', async () => {
  handle = async () => {
    throw new AppError('INVALID_FIELD', {
      detail: 'No: ünïcode',
      fields: [{ field: 'a.b', message: 'required' }],
      retryAfterSeconds: 1.5,
      cause: new Error('secret'),
    });
  };
  const error = await call().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'INVALID_FIELD',
    message: 'No: ünïcode',
    fields: [{ field: 'a.b', message: 'required' }],
    retryAfterSeconds: 1.5,
  });
  expect(JSON.stringify(error)).not.toContain('secret');
});

test('an unknown error says nothing of the inside', async () => {
  handle = async () => {
    throw new TypeError('secret');
  };
  await expect(call()).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: 'Internal error' });
});

test('a call that runs ends before the server does', async () => {
  let release = () => {};
  let begun = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  handle = () => {
    begun();
    return new Promise((resolve) => {
      release = () => resolve(answer);
    });
  };
  const answered = call();
  await running;
  const closed = server[Symbol.asyncDispose]();
  release();
  expect(await answered).toEqual(answer);
  await closed;
});

test('health is what the service says, and NOT_FOUND for any other', async () => {
  for (const name of ['', TasksService.typeName]) expect(await health(name)).toBe(1);
  server.setServing(false);
  for (const name of ['', TasksService.typeName]) expect(await health(name)).toBe(2);
  server.setServing(true);
  expect(await health('')).toBe(1);
  await expect(health('acsp.search.v1.SearchService')).rejects.toMatchObject({ code: status.NOT_FOUND });
});

/** The answer to a grpc.reflection.v1.ServerReflectionRequest of one text, by the number of its field. */
async function reflect(field: number, text: string): Promise<Buffer> {
  const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
  const stream = raw.makeBidiStreamRequest(path, asBytes, asBytes);
  stream.on('error', () => {});
  stream.write(Buffer.concat([Buffer.from([(field << 3) | 2, text.length]), Buffer.from(text)]));
  const answered = await new Promise<Buffer>((resolve) => stream.once('data', resolve));
  stream.cancel();
  return answered;
}

/** The files in an answer. Its field 4, a FileDescriptorResponse, is on the wire what a FileDescriptorSet is. */
function filesIn(answered: Buffer): FileDescriptorProto[] {
  const field = fromBinary(EmptySchema, answered).$unknown?.find(({ no }) => no === 4);
  return field === undefined ? [] : fromBinary(FileDescriptorSetSchema, new BinaryReader(field.data).bytes()).file;
}

test('reflection lists the service, and gives the file of its rpcs and those that it imports', async () => {
  const [fileByFilename, fileContainingSymbol, listServices] = [3, 4, 7];
  const { typeName } = TasksService;
  expect((await reflect(listServices, '')).toString()).toContain(typeName);
  const files = filesIn(await reflect(fileContainingSymbol, `${typeName}.ClaimTask`));
  const tasksFile = files.find(({ name }) => name === 'acsp/tasks/v1/tasks.proto');
  // A client asks for imports that did not come along by their names.
  for (const imported of tasksFile?.dependency ?? ['none']) {
    expect(filesIn(await reflect(fileByFilename, imported)).map(({ name }) => name)).toContain(imported);
  }
});

test('an address that is taken is an error', async () => {
  const port = Number(server.address.split(':')[1]);
  const second = serveRpc({ service: TasksService, host: '127.0.0.1', port, handle: async () => answer });
  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE', port });
});
