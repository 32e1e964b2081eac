import { type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { Server } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';

type PackageDefinition = ConstructorParameters<typeof ReflectionService>[0];

/** Adds `grpc.health.v1.Health` and server reflection for one service; returns the switch of its health. */
export function addHealthAndReflection(server: Server, service: DescService): (serving: boolean) => void {
  const health = new HealthImplementation({ '': 'SERVING', [service.typeName]: 'SERVING' });
  health.addToServer(server);
  const fileDescriptorProtos = withDependencies(service.file).map((file) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)),
  );
  // The reflection service reads nothing of a package definition but its file descriptors.
  const definition: unknown = { [service.typeName]: { fileDescriptorProtos } };
  new ReflectionService(definition as PackageDefinition, { services: [service.typeName] }).addToServer(server);
  return (serving) => {
    for (const name of ['', service.typeName]) health.setStatus(name, serving ? 'SERVING' : 'NOT_SERVING');
  };
}

const withDependencies = (file: DescFile): DescFile[] => [
  ...new Set([file, ...file.dependencies.flatMap(withDependencies)]),
];
