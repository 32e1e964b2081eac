import { stdSerializers } from 'pino';

const secretName =
  /^encrypted|(?:loginkey|authorization|signature|token|privatekey|secret|password|cookie|proof|acspprincipal)$|^sig$/;

/** True when a member or header of this name holds a secret: `login_key`, `loginKey`, `X-Signature`, `encrypted_keys` and their like. */
export const isSecretName = (name: string): boolean => secretName.test(name.toLowerCase().replaceAll(/[-_]/g, ''));

const secretText =
  /(nk_|whsec_)[\w+/=-]{16,}|([?&](?:login_key|signature|sig|token)=)[^&\s"\\#]+|(:\/\/[^\s:@/"\\]*:)[^\s@/"\\]+(?=@)|([Bb]earer )[\w.~+/=-]+/g;

/** Text without the secrets that show by their form: login keys, webhook secrets, bearer tokens, passwords in URLs, signed queries. */
export function scrub(text: string): string {
  return text.replace(secretText, '$1$2$3$4[redacted]');
}

const maxDepth = 6;
const maxMembers = 1_000;
const leftOut = '[left out]';
let members = 0;

/**
 * The value without its secrets, at any place down to six levels; what lies deeper, or after a thousand members, is left out. The same object
 * when there is nothing to hide. Errors become plain objects with their causes, bytes their length.
 */
export function redact(value: unknown): unknown {
  members = 0;
  return visit(value, 0);
}

function visit(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth > maxDepth) return leftOut;
  if (value instanceof Error) return visit({ ...stdSerializers.err(value) }, depth + 1);
  if (Array.isArray(value)) return visitList(value, depth);
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? visit(toJSON.call(value), depth + 1) : visitObject(value, depth);
}

function visitList(list: readonly unknown[], depth: number): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    if (++members > maxMembers) return [...(copy ?? list).slice(0, index), leftOut];
    const before = list[index];
    const after = visit(before, depth + 1);
    if (after === before) continue;
    copy ??= [...list];
    copy[index] = after;
  }
  return copy ?? list;
}

function visitObject(object: object, depth: number): unknown {
  const source = object as Readonly<Record<string, unknown>>;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(source)) {
    const before = source[name];
    const secret = before !== undefined && before !== null && isSecretName(name);
    const after = secret ? '[redacted]' : ++members > maxMembers ? leftOut : visit(before, depth + 1);
    if (after === before) continue;
    copy ??= { ...source };
    copy[name] = after;
  }
  return copy ?? source;
}
