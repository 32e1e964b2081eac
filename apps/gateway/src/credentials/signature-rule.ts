import type { ErrorCode } from '@acsp/errors';

/** What a signed operation asks of its signature (decisions, 2 and 8 "Signatures"). */
export interface SignatureRule {
  /**
   * Whose key verifies: a registered agent's; for a `registration` the key in the body; a `holder` names its registered key in the body.
   */
  readonly signer: 'agent' | 'registration' | 'holder';
  readonly signatureField: 'signature' | 'sig';
  readonly timeField: 'timestamp' | 'ts';
  readonly timeRequired: boolean;
  /** How far the timestamp may be from now, either way. */
  readonly driftSeconds: number;
  readonly driftCode: ErrorCode;
  /** Of a request without a signature: the tables of register and agent-init list it as a field among others. */
  readonly missing: 'AUTH_REQUIRED' | 'MISSING_FIELDS';
}

export const agent: SignatureRule = {
  signer: 'agent',
  signatureField: 'signature',
  timeField: 'timestamp',
  timeRequired: true,
  driftSeconds: 300,
  driftCode: 'TIMESTAMP_OUT_OF_RANGE',
  missing: 'AUTH_REQUIRED',
};

export const group: SignatureRule = { ...agent, driftSeconds: 60 };

export const untimed: SignatureRule = { ...agent, timeRequired: false };

export const gapFill: SignatureRule = { ...agent, signatureField: 'sig', timeField: 'ts' };

export const holder: SignatureRule = { ...agent, signer: 'holder', driftCode: 'INVALID_TIMESTAMP' };

export const registration: SignatureRule = { ...holder, signer: 'registration', missing: 'MISSING_FIELDS' };

export const initiation: SignatureRule = { ...holder, missing: 'MISSING_FIELDS' };
