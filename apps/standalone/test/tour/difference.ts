/** The values that are new each time, by their shape. */
const shapes: readonly (readonly [name: string, form: RegExp])[] = [
  ['time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/],
  ['UUID', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  ['thread', /^thr_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  ['AID', /^[0-9a-f]{50}$/],
  ['public key', /^[0-9a-f]{64}$/],
  ['private key', /^[0-9a-f]{128}$/],
  ['login key', /^nk_[\w-]{43}$/],
];

const shapeOf = (value: unknown) =>
  typeof value === 'string' ? shapes.find(([, form]) => form.test(value))?.[0] : undefined;

/**
 * The first difference between a real answer and the document, if any. Ids, keys and times are compared by shape, but an id or a key that the
 * document repeats must be repeated by the answers too: `names` holds which stands for which.
 */
export function difference(
  documented: unknown,
  real: unknown,
  names: Map<string, string>,
  path = '$',
): string | undefined {
  const shape = shapeOf(documented);
  if (shape !== undefined) {
    if (shapeOf(real) !== shape) return `${path} is ${JSON.stringify(real)}, not a ${shape}`;
    return shape === 'time' ? undefined : renamed(documented as string, real as string, names, path);
  }
  if (typeof documented !== 'object' || documented === null || typeof real !== 'object' || real === null) {
    return documented === real ? undefined : `${path} is ${JSON.stringify(real)}, not ${JSON.stringify(documented)}`;
  }
  if (Object.keys(documented).join() !== Object.keys(real).join()) {
    return `${path} has ${Object.keys(real).join(', ')}, not ${Object.keys(documented).join(', ')}`;
  }
  for (const [key, value] of Object.entries(documented)) {
    const found = difference(value, (real as Record<string, unknown>)[key], names, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function renamed(documented: string, real: string, names: Map<string, string>, path: string): string | undefined {
  const known = names.get(documented);
  if (known === undefined) {
    names.set(documented, real);
    return undefined;
  }
  return known === real ? undefined : `${path} is not the one that stands there before as ${documented}`;
}
