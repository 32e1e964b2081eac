import { type Edge, EdgeSchema, edge, file_acsp_edge_v1_edge, MovedSchema, moved } from '@acsp/contracts/edge/v1/edge';
import {
  create,
  createFileRegistry,
  type DescFile,
  type DescMessage,
  type DescService,
  type MessageInitShape,
  setExtension,
} from '@bufbuild/protobuf';
import {
  type FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  FieldDescriptorProto_Label as Label,
  MethodOptionsSchema,
  ServiceOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;

const field = (name: string, number: number, type: Type, more: Field = {}): Field => ({
  name,
  number,
  type,
  label: Label.OPTIONAL,
  jsonName: name,
  ...more,
});
const message = (name: string, number: number, typeName: string, more: Field = {}) =>
  field(name, number, Type.MESSAGE, { typeName, ...more });
const repeated = { label: Label.REPEATED };
/** `optional` is a oneof of one in descriptors. */
const optional = (oneofIndex: number) => ({ proto3Optional: true, oneofIndex });

const messages = [
  {
    name: 'Part',
    field: [
      field('part_name', 1, Type.STRING),
      field('size', 2, Type.INT32, optional(0)),
      message('made_at', 3, '.google.protobuf.Timestamp'),
    ],
    oneofDecl: [{ name: '_size' }],
  },
  {
    name: 'Sample',
    field: [
      field('text', 1, Type.STRING),
      field('maybe_text', 2, Type.STRING, optional(0)),
      field('count', 3, Type.INT32),
      field('maybe_count', 4, Type.INT32, optional(1)),
      field('flag', 5, Type.BOOL),
      field('ratio', 6, Type.DOUBLE),
      field('body', 7, Type.BYTES),
      field('tag_list', 8, Type.STRING, repeated),
      message('created_at', 9, '.google.protobuf.Timestamp'),
      message('seen_at', 10, '.google.protobuf.Timestamp', repeated),
      message('main_part', 11, '.acsp.sample.v1.Part'),
      message('parts', 12, '.acsp.sample.v1.Part', repeated),
      message('metadata', 13, '.google.protobuf.Struct'),
    ],
    oneofDecl: [{ name: '_maybe_text' }, { name: '_maybe_count' }],
  },
  { name: 'Long', field: [field('count', 1, Type.INT64)] },
  {
    name: 'Choice',
    field: [field('one', 1, Type.STRING, { oneofIndex: 0 }), field('two', 2, Type.STRING, { oneofIndex: 0 })],
    oneofDecl: [{ name: 'either' }],
  },
];

interface Methods {
  readonly [name: string]: MessageInitShape<typeof EdgeSchema> | undefined;
}

const dependencies = [file_acsp_edge_v1_edge, file_google_protobuf_struct, file_google_protobuf_timestamp];

/** `acsp.sample.v1`, with a service of these rpcs; one without an option is for services only. */
export function sampleFile(methods: Methods = {}, movedPaths: MessageInitShape<typeof MovedSchema>[] = []): DescFile {
  const name = 'acsp/sample/v1/sample.proto';
  const file = create(FileDescriptorProtoSchema, {
    ...{ name, package: 'acsp.sample.v1', syntax: 'proto3', messageType: messages },
    dependency: dependencies.map((each) => each.proto.name),
    service: [
      {
        name: 'SampleService',
        options: serviceOptions(movedPaths),
        method: Object.entries(methods).map(([name, option]) => ({
          ...{ name, inputType: '.acsp.sample.v1.Sample', outputType: '.acsp.sample.v1.Sample' },
          options: option && methodOptions(create(EdgeSchema, option)),
        })),
      },
    ],
  });
  const resolve = (wanted: string) => dependencies.find((each) => each.proto.name === wanted);
  return createFileRegistry(file, resolve).getFile(name) as DescFile;
}

export const sampleService = (methods: Methods, movedPaths?: MessageInitShape<typeof MovedSchema>[]): DescService =>
  sampleFile(methods, movedPaths).services[0] as DescService;

export const sampleMessage = (name: string): DescMessage =>
  sampleFile().messages.find((each) => each.name === name) as DescMessage;

function methodOptions(value: Edge) {
  const options = create(MethodOptionsSchema);
  setExtension(options, edge, value);
  return options;
}

function serviceOptions(values: MessageInitShape<typeof MovedSchema>[]) {
  const options = create(ServiceOptionsSchema);
  setExtension(
    options,
    moved,
    values.map((value) => create(MovedSchema, value)),
  );
  return options;
}
