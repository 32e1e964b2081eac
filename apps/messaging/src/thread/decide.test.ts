import type { ThreadRole, ThreadStatus } from '../generated/prisma/enums.js';
import { type Action, type Decision, decide, decideExpiry, statuses, type ThreadState, threadAt } from './decide.js';

const at = new Date('2026-01-02T00:00:00Z');
const moments = { 'before its last moment': new Date(at.getTime() + 1), 'at its last moment': at };
const created = new Date('2026-01-01T00:00:00Z');
const roles = ['initiator', 'responder'] as const;
const actions = ['offer', 'counter', 'accept', 'reject', 'info', 'close', 'expire'] as const;

type Outcome = ThreadStatus | 'refused';
/** The outcomes of the actions, in their order. */
type Row = readonly [Outcome, Outcome, Outcome, Outcome, Outcome, Outcome, Outcome];
type Cell = readonly [status: ThreadStatus, latest_offer_by: ThreadRole, by: ThreadRole, ...outcomes: Row];

const no = 'refused';
const over = [no, no, no, no, no, no, no] as const;
const ranOut = [no, no, no, no, no, no, 'expired'] as const;

/** Decisions 4.9 and 8 "Threads". A thread is not open with an offer of the responder. */
const alive: readonly Cell[] = [
  ['open', 'initiator', 'initiator', 'open', no, no, 'rejected', 'open', 'closed', no],
  ['open', 'initiator', 'responder', 'negotiating', 'negotiating', 'agreed', 'rejected', 'open', 'closed', no],
  ...(
    [
      ['initiator', 'initiator', no],
      ['initiator', 'responder', 'agreed'],
      ['responder', 'initiator', 'agreed'],
      ['responder', 'responder', no],
    ] as const
  ).map(([latest, by, accepted]): Cell => {
    const stays = 'negotiating';
    return [stays, latest, by, stays, stays, accepted, 'rejected', stays, 'closed', no];
  }),
];
const final: readonly Cell[] = (['agreed', 'rejected', 'expired', 'closed'] as const).flatMap((status) =>
  roles.flatMap((latest) => roles.map((by): Cell => [status, latest, by, ...(status === 'expired' ? ranOut : over)])),
);
const tables: Record<keyof typeof moments, readonly Cell[]> = {
  'before its last moment': [...alive, ...final],
  'at its last moment': [...alive.map(([status, latest, by]): Cell => [status, latest, by, ...ranOut]), ...final],
};

const threadAs = (status: ThreadStatus, fields: Partial<ThreadState> = {}): ThreadState => ({
  ...{ status, latest_offer_by: 'initiator', messages_count: 3, updated_at: created, expires_at: at },
  ...fields,
});
const earlier = new Date(at.getTime() - 1);

function outcomeOf(thread: ThreadState, decision: Decision): Outcome {
  if (!('refused' in decision)) return { ...thread, ...decision.set }.status;
  expect(decision.refused).toBe('INVALID_TRANSITION');
  return no;
}

describe.each(Object.keys(moments) as (keyof typeof moments)[])('a thread %s', (moment) => {
  const cells = tables[moment].flatMap(([status, latest, by, ...outcomes]) =>
    actions.map((action, n) => [status, latest, by, action, outcomes[n] as Outcome] as const),
  );

  test.each(cells)(
    '%s, latest offer by the %s: the %s does %s: %s',
    (...[status, latest_offer_by, by, action, expected]) => {
      const thread = threadAs(status, { latest_offer_by, expires_at: moments[moment] });
      expect(outcomeOf(thread, decide(thread, { by, action, at }))).toBe(expected);
    },
  );

  test('has every status, role and action in the table', () => {
    const key = (...parts: string[]) => parts.join();
    const all = statuses.flatMap((status) => roles.flatMap((by) => actions.map((action) => key(status, by, action))));
    expect(new Set(cells.map(([status, _latest, by, action]) => key(status, by, action)))).toEqual(new Set(all));
  });
});

describe('the effects of an action', () => {
  const effects: readonly [Action, Decision][] = [
    ['offer', { ...said('negotiating', 'responder'), event: 'thread.offered', number: 4 }],
    ['counter', { ...said('negotiating', 'responder'), event: 'thread.countered', number: 4 }],
    ['accept', { ...said('agreed'), event: 'thread.accepted', number: 4 }],
    ['reject', { ...said('rejected'), event: 'thread.rejected', number: 4 }],
    ['info', { ...said('open'), event: 'thread.informed', number: 4 }],
    ['close', { set: { status: 'closed', updated_at: earlier }, event: 'thread.closed', number: null }],
  ];

  test.each(effects)('%s by the responder has these, each once', (action, expected) => {
    expect(decide(threadAs('open'), { by: 'responder', action, at: earlier })).toEqual(expected);
  });

  function said(status: ThreadStatus, latest_offer_by?: ThreadRole) {
    const set = { status, updated_at: earlier, messages_count: 4 };
    return { set: latest_offer_by === undefined ? set : { ...set, latest_offer_by } };
  }

  test('an initiator that offers again stays the author of the latest offer', () => {
    const decision = decide(threadAs('open'), { by: 'initiator', action: 'offer', at: earlier });
    expect(decision).toMatchObject({ set: { status: 'open', latest_offer_by: 'initiator' } });
  });
});

describe('expiry', () => {
  test.each(['open', 'negotiating'] as const)(
    'of a thread that is %s dates from its last moment, however late',
    (status) => {
      const thread = threadAs(status);
      const late = new Date(at.getTime() + 12_345);
      const set = { status: 'expired', updated_at: at };
      expect(decideExpiry(thread, late)).toEqual({ set, event: 'thread.expired', number: null });
      expect(threadAt(thread, late)).toEqual({ ...thread, ...set });
    },
  );

  test('is written once: after that nothing changes', () => {
    expect(decideExpiry(threadAs('expired'), at)).toEqual({ set: {}, event: null, number: null });
  });

  test.each(statuses)('leaves a thread that is %s as it is before its last moment', (status) => {
    const thread = threadAs(status);
    expect(threadAt(thread, earlier)).toBe(thread);
    if (status !== 'expired') expect(decideExpiry(thread, earlier)).toEqual({ refused: 'INVALID_TRANSITION' });
  });
});
