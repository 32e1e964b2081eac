export interface Route {
  /** `METHOD /path`, with parameters in braces: `GET /api/acsp/tasks/{id}`. */
  readonly http: string;
}

export interface Match<Row> {
  /** Every row of this method and path, in table order: forms that share a path are told apart by their fields. */
  readonly rows: readonly Row[];
  readonly parameters: Readonly<Record<string, string>>;
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
export function routeTable<Row extends Route>(rows: Iterable<Row>): RouteTable<Row> {
  const fixed = new Map<string, Pattern<Row>>();
  const open = new Map<string, Pattern<Row>>();
  for (const row of rows) {
    const [method = '', path = ''] = row.http.split(' ');
    const home = path.includes('{') ? open : fixed;
    const pattern = home.get(path) ?? { segments: path.split('/'), methods: new Map() };
    home.set(path, pattern);
    pattern.methods.set(method, [...(pattern.methods.get(method) ?? []), row]);
  }
  const patterns = [...open.values()];
  return (method, path) => {
    const parts = path.split('/');
    const found = fixed.get(path) ?? patterns.find(({ segments }) => fits(segments, parts));
    if (found === undefined) return { allow: [] };
    const matched = found.methods.get(method === 'HEAD' ? 'GET' : method);
    if (matched === undefined) return { allow: [...found.methods.keys()] };
    return { rows: matched, parameters: parametersOf(found.segments, parts) };
  };
}

const fits = (segments: readonly string[], parts: readonly string[]) =>
  segments.length === parts.length &&
  segments.every((segment, i) => (isParameter(segment) ? parts[i] !== '' : segment === parts[i]));

function parametersOf(segments: readonly string[], parts: readonly string[]): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    if (isParameter(segment)) parameters[segment.slice(1, -1)] = decode(parts[i] ?? '');
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
