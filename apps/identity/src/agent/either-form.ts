import type { Fields } from '@acsp/rpc';
import { z } from 'zod';

/**
 * The input of a path that takes two forms: fields that hold `mark` are read as the compact form, all others as the detailed one. Whoever walks
 * over the fields of inputs finds both in its metadata, as `forms`.
 */
export function eitherForm<Request>(mark: string, compact: z.ZodType<Request>, detailed: z.ZodType<Request>) {
  const fields = z.custom<Fields>().meta({ forms: [detailed, compact] });
  return fields.transform((fields, context): Request => {
    const result = (fields[mark] === undefined ? detailed : compact).safeParse(fields, { reportInput: true });
    if (result.success) return result.data;
    context.issues.push(...(result.error.issues as z.core.$ZodRawIssue[]));
    return z.NEVER;
  });
}
