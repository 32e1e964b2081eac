// Compiled by `pnpm typecheck`, never run: each line marked as an error must stay one, or the compiler complains about the mark.
import {
  ClaimTaskRequestSchema,
  type ClaimTaskResponseSchema,
  type CreateTaskRequest,
  type TaskSchema,
  type TasksService,
} from '@acsp/contracts/tasks/v1/tasks';
import { z } from 'zod';
import { byAgent, type Draft, fieldsOf, type Operations, type PublicOf } from '../src/index.js';

const fields = fieldsOf(ClaimTaskRequestSchema);
const task_id = z.string();
const message = z.string().optional();
const eta_minutes = z.number().optional();

export const exact = fields({ task_id, message, eta_minutes });
export const withCaller = fields({ aid: z.string().optional(), task_id, message, eta_minutes });

// @ts-expect-error a field of the contract is missing
export const missing = fields({ task_id, message });
// @ts-expect-error a field is misspelt
export const misspelt = fields({ taskId: task_id, task_id, message, eta_minutes });
// @ts-expect-error a field has another type
export const mistyped = fields({ task_id, message, eta_minutes: z.string().optional() });
// @ts-expect-error the contract wants it, so it may not be optional
export const optional = fields({ task_id: task_id.optional(), message, eta_minutes });

type Answer = PublicOf<typeof ClaimTaskResponseSchema>;
export const answer: Answer = { claim: null, task_status: 'open', message: '' };
// @ts-expect-error a field of the answer is missing
export const incomplete: Answer = { claim: null, task_status: 'open' };
// @ts-expect-error a field of the answer is misspelt
export const renamed: Answer = { claim: null, taskStatus: 'open', task_status: 'open', message: '' };
// @ts-expect-error a field of the answer has another type
export const retyped: Answer = { claim: null, task_status: 1, message: '' };

export const operation = byAgent(exact, async (_context: object, { task_id }) => ({ ...answer, message: task_id }));

type ClaimTask = Operations<typeof TasksService, object>['claimTask'];
export const row: ClaimTask = operation;
// @ts-expect-error the handler answers another message
export const otherAnswer: ClaimTask = byAgent(exact, async () => ({ message: '' }));

type Times = Pick<PublicOf<typeof TaskSchema>, 'deadline' | 'expires_at'>;
export const times: Times = { deadline: new Date(), expires_at: null };
// @ts-expect-error a time is a date
export const text: Times = { deadline: '2026-01-01T00:00:00Z', expires_at: null };

export const draft: Draft<CreateTaskRequest> = { title: '', description: '' };
// @ts-expect-error a client writes what the contract wants
export const shortDraft: Draft<CreateTaskRequest> = { title: '' };
