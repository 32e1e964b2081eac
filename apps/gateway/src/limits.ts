import type { Bucket } from '@acsp/store';

/** Requests a minute (interface, section 8.1; decisions 1.9). Operations that name one limit share it. */
const perMinute = {
  tasks: 30,
  'message-send': 30,
  inbox: 30,
  history: 30,
  broadcast: 5,
  register: 5,
  quickstart: 5,
  revoke: 5,
  'account-delete': 5,
  'agent-init': 10,
  'profile-update': 10,
  'presence-subscribe': 10,
  'presence-heartbeat': 30,
  'presence-get': 30,
  attest: 10,
  /** Every other operation of a known agent. */
  agent: 60,
  /** Every other operation that anybody may call. */
  public: 120,
  /** Credentials that were refused where the operation itself has no limit. */
  credentials: 60,
};

export type LimitName = keyof typeof perMinute;

export const limitNames = Object.keys(perMinute) as LimitName[];

export interface Limit extends Bucket {
  readonly name: LimitName;
  /** The `RateLimit-Policy` header (draft-ietf-httpapi-ratelimit-headers). */
  readonly policy: string;
}

export type Limits = Readonly<Record<LimitName, Limit>>;

/** `overrides` replaces limits, `scale` multiplies all of them. */
export function createLimits(scale: number, overrides: Partial<Record<LimitName, number>> = {}): Limits {
  const rows = limitNames.map((name): [LimitName, Limit] => {
    const limit = Math.max(1, Math.round((overrides[name] ?? perMinute[name]) * scale));
    return [name, { name, limit, windowSeconds: 60, policy: `"${name}";q=${limit};w=60` }];
  });
  return Object.fromEntries(rows) as Record<LimitName, Limit>;
}
