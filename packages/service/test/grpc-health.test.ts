import { connectRpc } from '@acsp/rpc';
import { eventually, startService, type TestService } from '@acsp/testkit';
import { create, createFileRegistry, type DescMethod } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt';
import { type Context, trial } from './trial/service.js';

/** grpc/health/v1/health.proto, as far as it is asked for. On the wire an enum is a number. */
const file = create(FileDescriptorProtoSchema, {
  ...{ name: 'health.proto', package: 'grpc.health.v1', syntax: 'proto3' },
  messageType: [
    { name: 'HealthCheckRequest', field: [{ name: 'service', number: 1, type: Type.STRING, label: 1 }] },
    { name: 'HealthCheckResponse', field: [{ name: 'status', number: 1, type: Type.INT32, label: 1 }] },
  ],
  service: [
    {
      name: 'Health',
      method: [
        {
          name: 'Check',
          inputType: '.grpc.health.v1.HealthCheckRequest',
          outputType: '.grpc.health.v1.HealthCheckResponse',
        },
      ],
    },
  ],
});
const check = createFileRegistry(file, () => undefined).getService('grpc.health.v1.Health')?.methods[0] as DescMethod;

async function isServing({ address }: TestService<Context>): Promise<boolean> {
  using connection = connectRpc(address);
  const request = create(check.input, { service: trial.contract.typeName });
  const answer = await connection.unary(check, request, { headers: {}, deadline: Date.now() + 2_000 });
  return (answer as unknown as { readonly status: number }).status === 1;
}

test('gRPC health follows readiness', async () => {
  await using service = await startService(trial);
  let well = false;
  service.health.check('dependency', () => {
    if (!well) throw new Error('away');
  });
  await eventually(async () => !(await isServing(service)));
  well = true;
  await eventually(() => isServing(service));
  service.health.drain();
  await eventually(async () => !(await isServing(service)));
});
