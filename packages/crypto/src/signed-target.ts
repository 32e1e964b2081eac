import { AppError } from '@acsp/errors';

export interface SignedTarget {
  /** Lowercased and percent-decoded; undefined when the parameter is absent. */
  readonly signature: string | undefined;
  /** The signed bytes: the target without that parameter. */
  readonly bytes: Buffer;
}

/**
 * Takes the signature parameter out of a request target as it was sent (path, `?`, raw query), with one `&`: the one before it
 * if it is the last parameter, otherwise the one after it. Everything else stays to the letter.
 * @throws AppError INVALID_FIELD when the parameter is there twice.
 */
export function signedTarget(target: string, parameter: 'signature' | 'sig'): SignedTarget {
  let signature: string | undefined;
  let [from, to] = [0, 0];
  for (let at = target.indexOf('?') + 1; at > 0 && at <= target.length; ) {
    const ampersand = target.indexOf('&', at);
    const end = ampersand < 0 ? target.length : ampersand;
    const [name = '', value = ''] = split(target.slice(at, end));
    if (name === parameter) {
      if (signature !== undefined) throw twice(parameter);
      signature = value.toLowerCase();
      const first = target[at - 1] === '?';
      [from, to] = ampersand >= 0 ? [at, end + 1] : [first ? at : at - 1, end];
    }
    at = end + 1;
  }
  return { signature, bytes: Buffer.from(target.slice(0, from) + target.slice(to), 'latin1') };
}

function split(pair: string): string[] {
  const equals = pair.indexOf('=');
  return equals < 0 ? [decode(pair)] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
}

/** A name written as `%73ig` is that parameter too; text that can't be decoded is itself. */
function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const twice = (parameter: string) =>
  new AppError('INVALID_FIELD', { fields: [{ field: parameter, message: 'given twice' }] });
