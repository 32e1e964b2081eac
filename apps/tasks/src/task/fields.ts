import { type Agent, aid, integer, lifeOf, metadata, oneOf, text, textList, time, uuid } from '@acsp/operation';
import type { z } from 'zod';

// The fields that several operations of tasks share, with their codes (interface 4.13, 7.1).

export const priorities = ['low', 'normal', 'high', 'urgent'] as const;

export const taskId = uuid('INVALID_TASK_ID');
export const priority = oneOf(priorities);
export const taskMetadata = metadata();
/** A comment, or a claim's message. */
export const comment = text({ max: 1024, code: 'INVALID_CONTENT', clean: true });

/** The fields of a new task. */
export const draftFields = {
  title: text({ max: 256, missing: 'MISSING_TITLE', code: 'INVALID_CONTENT', clean: true }),
  description: text({ max: 4096, missing: 'MISSING_DESCRIPTION', code: 'INVALID_CONTENT', clean: true }),
  requirements: textList({ max: 20, maxLength: 256, code: 'INVALID_REQUIREMENTS', clean: true }).default([]),
  tags: textList({ max: 20, maxLength: 64, code: 'INVALID_TAGS', clean: true }).default([]),
  priority: priority.default('normal'),
  deadline: time({ code: 'INVALID_DEADLINE' }).optional(),
  ttl_minutes: integer(1, 43_200).default(1440),
  target_aid: aid({ code: 'INVALID_TARGET_AID' }).optional(),
  max_claims: integer(1, 100).default(1),
  workspace_id: uuid('INVALID_WORKSPACE_ID').optional(),
  group_id: uuid('INVALID_GROUP_ID').optional(),
  parent_id: uuid('INVALID_PARENT_ID').optional(),
  metadata: taskMetadata.default({}),
};

export type TaskDraft = z.output<z.ZodObject<typeof draftFields>>;

/** The agent that acts, as the rules know it. */
export const actorOf = (agent: Agent) => ({ ...lifeOf(agent), name: agent.name });
