import { catalogue, type ErrorCode } from '@acsp/errors';
import type { Answer } from '../harness.js';

export const plain = ({ status, body }: Answer) => ({ status, body });

export const refusal = ({ status, body }: Answer) => ({ status, code: body.code as string });

/** The answer that `refusal` gives for this code. */
export const refused = (code: ErrorCode) => ({ status: catalogue[code].http, code });
