import { z } from 'zod';

/** One field of an operation, as the zod schema of its input has it. */
export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'integer' | 'number' | 'boolean' | 'list' | 'object';
  readonly required: boolean;
  readonly json: z.core.JSONSchema.JSONSchema;
  accepts(value: unknown): boolean;
}

/** The fields of an input, which is an object with refinements behind it. */
export function fieldsOf(input: z.ZodType): Field[] {
  if (!(input instanceof z.ZodObject)) throw new Error(`an input that is ${input.def.type} hides its fields`);
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return Object.entries(input.shape as Record<string, z.ZodType>).map(([name, schema]) =>
    field(name, schema, { required: required.includes(name), json: properties[name] as Field['json'] }),
  );
}

export function field(name: string, schema: z.ZodType, { required, json }: Pick<Field, 'required' | 'json'>): Field {
  return { name, kind: kindOf(json), required, json, accepts: (value) => schema.safeParse(value).success };
}

const kinds = { string: 'text', integer: 'integer', number: 'number', boolean: 'boolean', array: 'list' } as const;

/** JSON objects are checked by code alone, so that their JSON schema says nothing. */
function kindOf({ type, anyOf }: Field['json']): Field['kind'] {
  const said = type ?? (anyOf?.[0] as Field['json'] | undefined)?.type;
  return said === undefined ? 'object' : kinds[said as keyof typeof kinds];
}
