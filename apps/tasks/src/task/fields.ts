import { type Agent, aid, metadata, oneOf, text, textList, uuid } from '@acsp/operation';

// The fields that several operations of tasks share, with their codes (interface 4.13, 7.1).

export const priorities = ['low', 'normal', 'high', 'urgent'] as const;

export const callerAid = aid().optional();
export const taskId = uuid('INVALID_TASK_ID');
export const title = text({ max: 256, missing: 'MISSING_TITLE', code: 'INVALID_CONTENT', clean: true });
export const description = text({ max: 4096, missing: 'MISSING_DESCRIPTION', code: 'INVALID_CONTENT', clean: true });
export const requirements = textList({ max: 20, maxLength: 256, code: 'INVALID_REQUIREMENTS', clean: true });
export const tags = textList({ max: 20, maxLength: 64, code: 'INVALID_TAGS', clean: true });
export const priority = oneOf(priorities);
export const targetAid = aid({ code: 'INVALID_TARGET_AID' });
export const taskMetadata = metadata();
/** A comment, or a claim's message. */
export const comment = text({ max: 1024, code: 'INVALID_CONTENT', clean: true });

/** The agent that acts, as the rules know it. */
export const actorOf = ({ aid, name, registeredAt = 0 }: Agent) => ({ aid, name, since: new Date(registeredAt) });
