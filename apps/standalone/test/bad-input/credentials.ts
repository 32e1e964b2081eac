import { Credential } from '@acsp/contracts/edge/v1/edge';
import { generateKeyPair } from '@acsp/crypto';
import type { ErrorCode } from '@acsp/errors';
import type { TestAgent } from '../harness.js';
import { type Draft, withSignature, withTime } from './requests.js';
import { proofOf } from './targets.js';

export interface BadCredential {
  readonly label: string;
  readonly draft: Draft;
  readonly codes: readonly ErrorCode[];
}

export interface Others {
  /** Another agent, in good standing. */
  readonly other: TestAgent;
  /** An agent whose login key has run out. */
  readonly expired: TestAgent;
}

const wrongKeys = ['nk_short', 'nk_'.padEnd(46, 'x'), 'null', '[object Object]', 'nk_'.padEnd(4_000, 'x')];

/** The credentials that an operation must refuse, in a request that is right otherwise. */
export function badCredentials(draft: Draft, others: Others): BadCredential[] {
  switch (proofOf(draft.target.route)) {
    case 'none':
      return [];
    case 'signature':
      return badSignatures(draft);
    case 'internal_token':
      return badTokens(draft, others);
    case 'login_key':
      return badBearers(draft, others);
    case 'login_key_body': {
      const { login_key: _own, ...texts } = draft.texts;
      const inBody = (key: string) => ({ ...draft, texts: { ...texts, login_key: JSON.stringify(key) } });
      return [
        ...badBearers({ ...draft, texts }, others),
        ...badKeys(draft, others).map(({ label, key, codes }) => ({
          label: `${label} in the body`,
          draft: inBody(key),
          codes,
        })),
      ];
    }
  }
}

function badBearers(draft: Draft, others: Others): BadCredential[] {
  // Account deletion alone has an order of checks of its own, in which every wrong key is not that agent's.
  const unchecked = draft.target.route.by.includes(Credential.LOGIN_KEY_UNCHECKED);
  return [
    { label: 'no credential', draft: { ...draft, bearer: undefined }, codes: ['AUTH_REQUIRED'] },
    ...badKeys(draft, others).map(({ label, key, codes }) => ({
      label,
      draft: { ...draft, bearer: key },
      codes: unchecked ? (['INVALID_AUTH'] as const) : codes,
    })),
  ];
}

function badTokens(draft: Draft, { other }: Others): BadCredential[] {
  return [
    { label: 'no credential', draft: { ...draft, bearer: undefined }, codes: ['AUTH_REQUIRED'] },
    ...[other.loginKey, 'null', 'x'.repeat(4_000)].map((bearer) => ({
      label: `no token: ${bearer.slice(0, 10)}`,
      draft: { ...draft, bearer },
      codes: ['INVALID_TOKEN'] as const,
    })),
  ];
}

interface BadKey {
  readonly label: string;
  readonly key: string;
  readonly codes: readonly ErrorCode[];
}

const badKeys = ({ target, texts }: Draft, { other, expired }: Others): BadKey[] => [
  ...wrongKeys.map((key) => ({ label: `malformed: ${key.slice(0, 20)}`, key, codes: ['INVALID_LOGIN_KEY'] as const })),
  { label: 'expired', key: expired.loginKey, codes: ['INVALID_LOGIN_KEY'] },
  // Everybody's key will do for a request that does not name its caller.
  ...(target.route.signature.aid.some((name) => texts[name] !== undefined)
    ? [{ label: "someone else's", key: other.loginKey, codes: ['AID_MISMATCH'] as const }]
    : []),
];

function badSignatures(draft: Draft): BadCredential[] {
  const { signature: rule } = draft.target.route;
  return [
    { label: 'no credential', draft: { ...draft, signature: null }, codes: [rule.missingCode] },
    ...['', 'zz', '0'.repeat(127), '0'.repeat(128), 'f'.repeat(128)].map((text) => ({
      label: `malformed: ${text.slice(0, 10)}`,
      draft: withSignature(draft, text),
      codes: ['INVALID_SIGNATURE'] as const,
    })),
    { label: 'expired', draft: withTime(draft, -rule.driftSeconds * 1000 - 2_000), codes: [rule.driftCode] },
    { label: 'from the future', draft: withTime(draft, rule.driftSeconds * 1000 + 20_000), codes: [rule.driftCode] },
    {
      label: "someone else's",
      draft: { ...draft, privateKey: generateKeyPair().privateKey },
      codes: ['INVALID_SIGNATURE'],
    },
  ];
}
