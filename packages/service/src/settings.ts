import { secretList } from '@acsp/operation';
import { z } from 'zod';

/** Kinds of variables that several processes have. */
export const settings = {
  port: (standard: number) => z.coerce.number().int().min(0).max(65_535).default(standard),
  flag: (standard: boolean) =>
    z
      .enum(['true', 'false'])
      .default(standard ? 'true' : 'false')
      .transform((text) => text === 'true'),
};

/** `new,old`: several secrets are accepted and the first signs, so that one is replaced without a stop. */
export const secrets = (minLength: number) =>
  z
    .string()
    .transform(secretList)
    .pipe(z.array(z.string().min(minLength)).min(1));
