import type { z } from 'zod';

/** The environment is not what the schema asks for. The message names every variable that is wrong, never its value. */
export class ConfigError extends Error {
  constructor(faults: readonly string[]) {
    super(`Wrong configuration: ${faults.join('; ')}.`);
    this.name = 'ConfigError';
  }
}

/**
 * The environment by its zod schema: an object with one member a variable. An empty variable counts as not set, since compose files and
 * Kubernetes cannot leave one out. Throws ConfigError.
 */
export function loadConfig<S extends z.ZodType>(
  schema: S,
  env: Readonly<Record<string, string | undefined>> = process.env,
): z.output<S> {
  const [config] = loadConfigs([schema], env);
  return config as z.output<S>;
}

/** As loadConfig for several schemas at once, so that one message names the faults of all. */
export function loadConfigs<const S extends readonly z.ZodType[]>(
  schemas: S,
  env: Readonly<Record<string, string | undefined>> = process.env,
): { [K in keyof S]: z.output<S[K]> } {
  const values = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const results = schemas.map((schema) => schema.safeParse(values));
  const issues = results.flatMap(({ error }) => error?.issues ?? []);
  if (issues.length > 0) throw new ConfigError(describe(issues, values));
  return results.map(({ data }) => data) as { [K in keyof S]: z.output<S[K]> };
}

function describe(issues: readonly z.core.$ZodIssue[], values: Readonly<Record<string, unknown>>): string[] {
  const faults = new Map<string, string>();
  for (const { path, message } of issues) {
    const name = String(path[0] ?? 'environment');
    const fault = path.length > 0 && !(name in values) ? 'is not set' : `is wrong (${lowerFirst(message)})`;
    if (!faults.has(name)) faults.set(name, `${name} ${fault}`);
  }
  return [...faults.values()];
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
