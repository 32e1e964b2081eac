import { METHODS } from 'node:http';
import type { ErrorCode } from '@acsp/errors';

/** The report of Node's parser: the bytes that it was given, and how far it came in them. */
export interface ParserFault extends NodeJS.ErrnoException {
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

/** The parser's codes for what may be a request line that is whole and not understood. */
const ofLine = new Set(['HPE_INVALID_METHOD', 'HPE_INVALID_VERSION', 'HPE_INVALID_CONSTANT']);
const wholeLine = /^([\w!#$%&'*+.^`|~-]+) \S+ HTTP\/(\d\.\d)\r?$/;
const maxLineLength = 16_384;

/**
 * The code for a request line that is well formed and names a version or a method that nobody here knows (RFC 9110, 15.6.2 and 15.6.6); methods are
 * case-sensitive. Undefined where it is malformed.
 */
export function faultOfLine({ code = '', rawPacket, bytesParsed = 0 }: ParserFault): ErrorCode | undefined {
  // A client that expects HTTP/2 without asking for it (RFC 9113, 3.4).
  if (code === 'HPE_PAUSED_H2_UPGRADE') return 'HTTP_VERSION_NOT_SUPPORTED';
  if (!ofLine.has(code) || rawPacket === undefined) return undefined;
  const start = rawPacket.subarray(0, bytesParsed).lastIndexOf('\n') + 1;
  const [line = ''] = rawPacket.toString('latin1', start, start + maxLineLength).split('\n', 1);
  const [, method = '', version] = wholeLine.exec(line) ?? [];
  if (version === undefined) return undefined;
  if (version !== '1.1' && version !== '1.0') return 'HTTP_VERSION_NOT_SUPPORTED';
  return METHODS.includes(method) ? undefined : 'NOT_IMPLEMENTED';
}
