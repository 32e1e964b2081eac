import type { Route as HttpRoute } from '@acsp/http';
import type { Fields } from '@acsp/rpc';
import type { SignatureRule } from './credentials/signature-rule.js';
import type { LimitName } from './limits.js';

export type Service = 'identity' | 'search' | 'messaging' | 'tasks' | 'workspace' | 'events' | 'webhook';

/** How a caller may say who it is (interface, section 5). */
export type Credential =
  /** In the header `Authorization: Bearer`. */
  | 'login_key'
  /** In the body's member `login_key`. */
  | 'login_key_body'
  /** Bearer; one that is wrong leaves the caller unknown instead of refusing it. */
  | 'unchecked_login_key'
  /** Ed25519, in the body, `X-Signature` or the query. */
  | 'signature'
  /** In the query, unproven. */
  | 'aid'
  /** In the query; the events service checks it. */
  | 'event_token'
  /** The scheduler's, as Bearer. */
  | 'internal'
  | 'none';

export interface Route extends HttpRoute {
  readonly service: Service;
  /** The first of these that the request carries counts. */
  readonly by: readonly Credential[];
  readonly limit: LimitName | undefined;
  /** What a signature must fulfil. */
  readonly rule: SignatureRule;
  /** The field with the AID of the signer; the first of these that is there. */
  readonly aid: readonly string[];
  /** Where forms share a path: whether these fields are meant for this one. The first that says yes serves. */
  readonly when?: (fields: Fields) => boolean;
  /** The answer holds a secret, so it is not kept for an Idempotency-Key. */
  readonly secret?: boolean;
  /** Redeems a one-time token: browsers and HEAD get the page that does it by script. */
  readonly page?: boolean;
  /** Forms of one path share it. */
  readonly maxBodyBytes: number;
}

/** A path that is no more, and what replaces it. */
export interface Deprecated extends HttpRoute {
  readonly movedTo: string;
}
