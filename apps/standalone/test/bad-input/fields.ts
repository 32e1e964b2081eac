import { z } from 'zod';

/** One field of an operation, as the zod schema of its input has it. */
export interface Field {
  readonly name: string;
  readonly kind: 'text' | 'integer' | 'boolean' | 'list' | 'object';
  readonly required: boolean;
  readonly json: z.core.JSONSchema.JSONSchema;
  accepts(value: unknown): boolean;
}

/** The fields of an input, by form: most operations have one. */
export function formsOf(input: z.ZodType): Field[][] {
  return objectsOf(input).map((object) => {
    const { properties = {}, required = [] } = z.toJSONSchema(object, { io: 'input', unrepresentable: 'any' });
    return Object.entries(object.shape as Record<string, z.ZodType>).map(([name, schema]) =>
      field(name, schema, { required: required.includes(name), json: properties[name] as Field['json'] }),
    );
  });
}

export function field(name: string, schema: z.ZodType, { required, json }: Pick<Field, 'required' | 'json'>): Field {
  return { name, kind: kindOf(json), required, json, accepts: (value) => schema.safeParse(value).success };
}

/** Inputs are objects with transforms behind them; an input of several forms names them in its metadata. */
function objectsOf(schema: z.ZodType): z.ZodObject[] {
  const forms = schema.meta()?.forms as z.ZodType[] | undefined;
  if (forms !== undefined) return forms.flatMap(objectsOf);
  if (schema instanceof z.ZodObject) return [schema];
  if (schema instanceof z.ZodPipe) return objectsOf(schema.def.in as z.ZodType);
  throw new Error(`an input that is ${schema.def.type} hides its fields`);
}

const kinds = { string: 'text', integer: 'integer', boolean: 'boolean', array: 'list' } as const;

/** JSON objects are checked by code alone, so that their JSON schema says nothing. */
function kindOf({ type, anyOf }: Field['json']): Field['kind'] {
  const said = type ?? (anyOf?.[0] as Field['json'] | undefined)?.type;
  return said === undefined ? 'object' : kinds[said as keyof typeof kinds];
}
