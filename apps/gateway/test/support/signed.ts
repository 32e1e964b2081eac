import { sign } from '@acsp/crypto';
import type { TestAgent } from './fake-identity.js';

type Fields = Readonly<Record<string, unknown>>;

export const now = (offsetSeconds = 0): string => new Date(Date.now() + offsetSeconds * 1000).toISOString();

export const signatureOf = ({ privateKey }: Pick<TestAgent, 'privateKey'>, text: string): string =>
  sign(privateKey, Buffer.from(text));

/** As `JSON.stringify({ ...fields, signature })` in JavaScript. */
export function signed(agent: Pick<TestAgent, 'privateKey'>, fields: Fields): string {
  const text = JSON.stringify(fields);
  return `${text.slice(0, -1)},"signature":"${signatureOf(agent, text)}"}`;
}

/** As `json.dumps({**fields, "signature": signature})` in Python. */
export function signedInPython(agent: Pick<TestAgent, 'privateKey'>, fields: Fields): string {
  const text = pythonJson(fields);
  return `${text.slice(0, -1)}, "signature": "${signatureOf(agent, text)}"}`;
}

function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) {
    return JSON.stringify(value).replace(
      /[^ -~]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  }
  return `{${Object.entries(value)
    .map(([name, member]) => `${pythonJson(name)}: ${pythonJson(member)}`)
    .join(', ')}}`;
}

/** A path below `/api/acsp/` with its query, signed as it is written. */
export function signedTarget(agent: TestAgent, path: string, parameter = 'signature'): string {
  const mark = path.includes('?') ? '&' : '?';
  return `${path}${mark}${parameter}=${signatureOf(agent, `/api/acsp/${path}`)}`;
}
