interface Path {
  readonly method: string;
  /** With parameters in braces: `/api/acsp/tasks/{id}`. */
  readonly path: string;
}

/** Every row of this method and path, in table order: their fields distinguish forms that share a path. */
export interface Match<Row> {
  readonly rows: readonly Row[];
}

/** No row has this method: `allow` lists those that the path has; empty when there is no such path. */
export interface NoMatch {
  readonly allow: readonly string[];
}

export type RouteTable<Row> = (method: string, path: string) => Match<Row> | NoMatch;

interface Pattern<Row> {
  readonly segments: readonly string[];
  readonly methods: Map<string, Row[]>;
}

const isParameter = (segment: string) => segment.startsWith('{');

/** Finds rows by method and path. Fixed paths win over parameters; a HEAD is served like a GET. */
export function routeTable<Row extends Path>(rows: Iterable<Row>): RouteTable<Row> {
  const fixed = new Map<string, Pattern<Row>>();
  const open = new Map<string, Pattern<Row>>();
  for (const row of rows) {
    const home = row.path.includes('{') ? open : fixed;
    const pattern = home.get(row.path) ?? { segments: row.path.split('/'), methods: new Map() };
    home.set(row.path, pattern);
    pattern.methods.set(row.method, [...(pattern.methods.get(row.method) ?? []), row]);
  }
  const patterns = [...open.values()];
  return (method, path) => {
    const parts = path.split('/');
    const found = fixed.get(path) ?? patterns.find(({ segments }) => fits(segments, parts));
    if (found === undefined) return { allow: [] };
    const rows = found.methods.get(method === 'HEAD' ? 'GET' : method);
    return rows === undefined ? { allow: [...found.methods.keys()] } : { rows };
  };
}

const fits = (segments: readonly string[], parts: readonly string[]) =>
  segments.length === parts.length &&
  segments.every((segment, index) => (isParameter(segment) ? parts[index] !== '' : segment === parts[index]));

/** The parameters of a path that is known to fit its pattern. */
export function pathParameters(pattern: string, path: string): Record<string, string> {
  const parameters: Record<string, string> = {};
  if (!pattern.includes('{')) return parameters;
  const parts = path.split('/');
  for (const [index, segment] of pattern.split('/').entries()) {
    if (isParameter(segment)) parameters[segment.slice(1, -1)] = decode(parts[index] ?? '');
  }
  return parameters;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
