import { SendMessageRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { byAgent, callerAid, fieldsOf } from '@acsp/operation';
import { parseIsoTime } from '@acsp/text';
import { z } from 'zod';
import type { Context } from '../context.js';
import { content, messageMetadata, msgType, targetAid, threadId } from '../direct/fields.js';
import { sendDirect } from '../direct/send-direct.js';

/** A direct message: the detailed form. A signature beside the login key has been verified by the gateway, over the body as it was sent. */
export const sendMessage = byAgent(
  fieldsOf(SendMessageRequestSchema)({
    aid: callerAid,
    target_aid: targetAid,
    content: content(2048),
    msg_type: msgType,
    thread_id: threadId.optional(),
    metadata: messageMetadata,
    timestamp: z
      .string('INVALID_TIMESTAMP')
      .refine((text) => parseIsoTime(text) !== undefined, 'INVALID_TIMESTAMP')
      .optional(),
    signature: z
      .string('INVALID_SIGNATURE')
      .regex(/^[0-9a-f]{128}$/i, 'INVALID_SIGNATURE')
      .optional(),
  }),
  (context: Context, { target_aid, thread_id = null, timestamp, signature, ...input }, sender, call) => {
    const { content, msg_type, metadata } = input;
    const signed = sender.signedAt !== undefined && signature !== undefined;
    const proof = signed ? { timestamp: timestamp ?? null, signature, verified: true } : {};
    return sendDirect(
      context,
      {
        sender,
        to: [target_aid],
        message: { content, msg_type, thread_id, metadata, ...proof },
        answer: ([message_id = ''], created_at) => ({
          ...{ message_id, from: sender.aid, to: target_aid, msg_type, created_at, thread_id },
        }),
      },
      call,
    );
  },
);
