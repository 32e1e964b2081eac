// Compiled by `pnpm typecheck`, never run: each line marked as an error must stay one, or the compiler complains about the mark.
import {
  ClaimTaskRequestSchema,
  type ClaimTaskResponseSchema,
  type CreateTaskRequest,
  type TaskSchema,
  type TasksService,
} from '@acsp/contracts/tasks/v1/tasks';
import { z } from 'zod';
import { byAgent, byAnyone, type Draft, fieldsOf, type Operations, type PublicOf } from '../src/index.js';

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

// A service's operations, each made by one call that infers its input, are held to the contract by the table alone.
interface Surroundings {
  readonly now: Date;
}
type Table = Pick<Operations<typeof TasksService, Surroundings>, 'claimTask'>;

const claimTask = byAgent(exact, async (_context: Surroundings, { task_id, eta_minutes }, { aid }, { deadline }) => ({
  ...answer,
  message: `${task_id} ${aid.length} ${eta_minutes ?? deadline}`,
}));
export const table: Table = { claimTask };

// @ts-expect-error the handler reads a field that the contract has under another name
byAgent(exact, async (_context: Surroundings, { taskId }) => ({ ...answer, message: taskId }));
// @ts-expect-error the handler takes a field for another type
byAgent(exact, async (_context: Surroundings, { task_id }) => ({ ...answer, message: task_id.toFixed() }));
// @ts-expect-error nothing proves the caller of an operation for anyone
byAnyone(exact, async (_context: Surroundings, _input, { aid }) => ({ ...answer, message: aid.toLowerCase() }));

const incompleteOne = byAgent(exact, async (_context: Surroundings) => ({ task_status: 'open', message: '' }));
// @ts-expect-error a field of the answer is missing
export const incompleteTable: Table = { claimTask: incompleteOne };

const renamedOne = byAgent(exact, async (_context: Surroundings) => ({ claim: null, taskStatus: 'open', message: '' }));
// @ts-expect-error a field of the answer is misspelt
export const renamedTable: Table = { claimTask: renamedOne };

const retypedOne = byAgent(exact, async (_context: Surroundings) => ({ ...answer, task_status: 1 }));
// @ts-expect-error a field of the answer has another type
export const retypedTable: Table = { claimTask: retypedOne };

const hurriedOne = byAgent(exact, (_context: Surroundings) => answer);
// @ts-expect-error the handler answers at once
export const hurriedTable: Table = { claimTask: hurriedOne };

const needyOne = byAgent(exact, async (_context: Surroundings & { readonly later: Date }) => answer);
// @ts-expect-error the handler wants more than the service has in its context
export const needyTable: Table = { claimTask: needyOne };

// @ts-expect-error an rpc has no row
export const emptyTable: Table = {};

type Times = Pick<PublicOf<typeof TaskSchema>, 'deadline' | 'expires_at'>;
export const times: Times = { deadline: new Date(), expires_at: null };
// @ts-expect-error a time is a date
export const text: Times = { deadline: '2026-01-01T00:00:00Z', expires_at: null };

export const draft: Draft<CreateTaskRequest> = { title: '', description: '' };
// @ts-expect-error a client writes what the contract wants
export const shortDraft: Draft<CreateTaskRequest> = { title: '' };
