type Entries = readonly (readonly [name: string, value: unknown])[];

/** Writes an object whose members stand in the given order, as a client's JSON library does. */
export type Write = (entries: Entries) => string;

/** JavaScript's JSON.stringify(body). */
export const compact: Write = (entries) =>
  `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;

/** JSON.stringify(body, null, 2), and Python's json.dumps(body, indent=2, ensure_ascii=False). */
export const indented: Write = (entries) =>
  `{\n${entries.map(([name, value]) => `  ${JSON.stringify(name)}: ${shifted(value)}`).join(',\n')}\n}`;

/** Python's json.dumps(body): a space behind each comma and colon, ASCII only, exponents of two digits. */
export const python: Write = (entries) => ascii(spacedObject(entries));

/** Python's json.dumps(body, ensure_ascii=False). */
export const pythonUtf8: Write = spacedObject;

const shifted = (value: unknown) => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');

function spacedObject(entries: Entries): string {
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}: ${spaced(value)}`).join(', ')}}`;
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return spacedObject(Object.entries(value));
  if (typeof value === 'number') return JSON.stringify(value).replace(/e([+-])(\d)$/, 'e$10$2');
  return JSON.stringify(value);
}

const ascii = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
