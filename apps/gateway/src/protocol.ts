import type { IncomingMessage } from 'node:http';
import { AppError } from '@acsp/errors';

/** Throws for a version or a framing that Node's parser lets pass and that nobody here understands (RFC 9110, 15.6; RFC 9112, 6.1). */
export function checkProtocol({ httpVersion, httpVersionMajor, headers }: IncomingMessage): void {
  if (httpVersionMajor !== 1) throw new AppError('HTTP_VERSION_NOT_SUPPORTED');
  const { 'transfer-encoding': coding } = headers;
  if (coding === undefined) return;
  const fields = (message: string) => ({ fields: [{ field: 'Transfer-Encoding', message }] });
  if (httpVersion === '1.0') throw new AppError('INVALID_FIELD', fields('is not for HTTP/1.0'));
  if (!/^chunked$/i.test(coding)) throw new AppError('NOT_IMPLEMENTED', fields('must be chunked'));
}
