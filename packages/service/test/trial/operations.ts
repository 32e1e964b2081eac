import { type AnswerRow, answerColumns, answerRow, type BatchStatement, keepAnswers, newId } from '@acsp/database';
import { AppError } from '@acsp/errors';
import { byAgent, byAnyone, type Call, fieldsOf, type Operations, oneOf, queryInteger, text } from '@acsp/operation';
import { z } from 'zod';
import * as contract from '../generated/proto/acsp/trial/v1/trial_pb.js';
import type { Context } from './service.js';

const short = text({ max: 100 });
const none = z.object({});

const createNote = byAgent(
  fieldsOf(contract.CreateNoteRequestSchema)({ text: short, outcome: z.string().optional() }),
  async ({ database, seen }: Context, { text, outcome }, _caller, call) => {
    seen.calls += 1;
    if (outcome === 'refused') throw new AppError('GROUP_FULL');
    if (outcome === 'limited') throw new AppError('PRIVACY_BUDGET_EXHAUSTED', { retryAfterSeconds: 60 });
    if (outcome === 'broken') throw new TypeError('x is not a function');
    if (outcome === 'unavailable') throw Object.assign(new Error('the server is away'), { code: 'ECONNREFUSED' });
    const note = await database.transaction(call, async (tx) => {
      const id = newId();
      const stored = outcome === 'copied' ? `${text} ${id}` : text;
      const made =
        await tx.$executeRaw`INSERT INTO note (id, text) VALUES (${id}::uuid, ${stored}) ON CONFLICT DO NOTHING`;
      if (made === 0) throw new AppError('GROUP_EXISTS');
      if (outcome === 'held' || outcome === 'copied') await seen.gate.opened;
      if (outcome === 'late') await ended(call.signal);
      return { id, text };
    });
    if (outcome === 'killed' && process.env.MAY_DIE) process.kill(process.pid, 'SIGKILL');
    if (outcome === 'lost') await ended(call.signal);
    return note;
  },
);

interface NoteRow extends AnswerRow {
  readonly id: string;
  readonly text: string;
}

const insertNote: BatchStatement<NoteRow, { readonly key: string }> = {
  name: 'insert note',
  columns: { id: 'uuid', text: 'text', ...answerColumns },
  key: ({ text }) => text,
  text: `, made AS (INSERT INTO note (id, text) SELECT id, text FROM input RETURNING text), ${keepAnswers('input')} SELECT text AS key FROM made`,
};

const batchNote = byAgent(
  fieldsOf(contract.BatchNoteRequestSchema)({ text: short }),
  async ({ database, seen }: Context, { text }, _caller, call) => {
    seen.calls += 1;
    const note = { id: newId(), text };
    await database.batch(insertNote, { ...note, ...answerRow(call.once, note) }, call);
    return note;
  },
);

const countNotes = byAgent(fieldsOf(contract.CountNotesRequestSchema)({}), async ({ database, seen }: Context) => {
  seen.calls += 1;
  return { notes: await database.prisma.note.count(), calls: seen.calls };
});

const issueSecret = byAgent(none, async ({ seen }: Context) => {
  seen.calls += 1;
  return { secret: `secret ${seen.calls}` };
});

const getNote = byAnyone(
  fieldsOf(contract.GetNoteRequestSchema)({ id: short, colour: oneOf(['red', 'blue']).optional() }),
  async (_context: Context, { id, colour = null }) => ({ id, colour }),
);

const allTexts = async ({ database }: Context) => {
  const notes = await database.prisma.note.findMany({ orderBy: { text: 'asc' } });
  return notes.map(({ text }) => text);
};

const searchNotes = byAnyone(
  fieldsOf(contract.SearchNotesRequestSchema)({ q: short.optional(), query: short.optional() }),
  async (context: Context, { q, query }) => ({
    texts: (await allTexts(context)).filter((text) => text.includes(q ?? query ?? '')),
  }),
);

const listNotes = byAnyone(none, async (context: Context) => ({ texts: await allTexts(context) }));

const exchangeMessage = byAnyone(
  fieldsOf(contract.ExchangeMessageRequestSchema)({ body: z.instanceof(Uint8Array), tenant: short.optional() }),
  async (_context: Context, { body, tenant }, _caller, { reply }) => {
    reply.headers['X-Tenant'] = tenant ?? 'none';
    const { id } = JSON.parse(Buffer.from(body).toString());
    if (id === undefined) reply.status = 202;
    const answer =
      id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result: Buffer.from(body).toString('hex') });
    return { body: Buffer.from(answer) };
  },
);

const measureText = byAnyone(
  fieldsOf(contract.MeasureTextRequestSchema)({ text: text({ max: 1_000_000 }) }),
  async (_context: Context, { text }) => ({ length: text.length }),
);

async function misbehave({ seen }: Context, how: string, call: Call): Promise<{ deadline: number }> {
  if (how === 'refuse')
    throw new AppError('GROUP_FULL', { detail: 'No more', fields: [{ field: 'how', message: 'no' }] });
  if (how === 'fail') throw Object.assign(new Error('the server is away'), { code: 'ECONNREFUSED' });
  if (how === 'break') throw new TypeError('x is not a function');
  if (how === 'hang' || how === 'look') seen.signals.push(call.signal);
  if (how === 'hang') await ended(call.signal);
  return { deadline: call.deadline };
}

const passOn = byAnyone(
  fieldsOf(contract.PassOnRequestSchema)({ how: short, within_ms: z.number().optional() }),
  async ({ peer }: Context, { how, within_ms }, _caller, call) => {
    if (peer === undefined) throw new AppError('INTERNAL_ERROR');
    return peer.misbehave({ how }, { call, ...(within_ms != null && { timeoutMs: within_ms }) });
  },
);

const watchNotes = byAnyone(
  fieldsOf(contract.WatchNotesRequestSchema)({
    count: queryInteger(0, 1_000).default(0),
    last_event_id: short.optional(),
    how: short.optional(),
  }),
  async function* ({ seen }: Context, { count, last_event_id, how }, _caller, { signal, reply }) {
    if (how === 'refuse') throw new AppError('INVALID_EVENT_ID');
    if (how === 'fail') throw Object.assign(new Error('the server is away'), { code: 'ECONNREFUSED' });
    reply.headers['X-Stream'] = 'trial';
    const from = Number(last_event_id ?? 0);
    const data = how === 'flood' ? 'x'.repeat(64 * 1024) : '{}';
    try {
      for (let id = from + 1; (how === 'flood' || id <= from + count) && !signal.aborted; id++) {
        seen.items += 1;
        yield { id: String(id), event: 'note', data };
        if (how === 'break') await seen.gate.opened.then(() => Promise.reject(new TypeError('x is not a function')));
      }
      if (how === 'open') await ended(signal);
      if (how === 'throws') await ended(signal).then(() => signal.throwIfAborted());
    } finally {
      seen.ended += 1;
    }
  },
);

const signNote = byAgent(
  fieldsOf(contract.SignNoteRequestSchema)({ from: z.string().optional(), aid: z.string().optional(), text: short }),
  async (_context: Context, _input, { aid }) => ({ by: aid }),
);

const whoAsks = byAnyone(none, async (_context: Context, _input, { name, via, aid = null, requestId }) => ({
  name,
  via,
  aid,
  request_id: requestId,
}));

export const operations: Operations<typeof contract.TrialService, Context> = {
  ...{ createNote, batchNote, countNotes, issueSecret, getNote, searchNotes, listNotes, exchangeMessage, measureText },
  misbehave: byAnyone(
    fieldsOf(contract.MisbehaveRequestSchema)({ how: short }),
    (context: Context, { how }, _caller, call) => misbehave(context, how, call),
  ),
  ...{ passOn, watchNotes, signNote, whoAsks },
};

const ended = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
