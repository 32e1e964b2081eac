import { SendDirectRequestSchema } from '@acsp/contracts/messaging/v1/messaging';
import { aid, byAgent, fieldsOf, oneOf } from '@acsp/operation';
import type { Context } from '../context.js';
import { longContent, messageMetadata } from '../direct/fields.js';
import { sendDirect as send } from '../direct/send-direct.js';

/** A direct message: the compact form, whose fields have second names. The first name counts where both are given. */
export const sendDirect = byAgent(
  fieldsOf(SendDirectRequestSchema)({
    ...{ sender_aid: aid().optional(), from: aid().optional() },
    ...{ recipient_aid: aid().optional(), to: aid().optional() },
    ...{ content: longContent.optional(), message: longContent.optional() },
    message_type: oneOf(['text', 'notification', 'request', 'response']).default('text'),
    metadata: messageMetadata,
  })
    .refine(({ recipient_aid, to }) => (recipient_aid ?? to) !== undefined, {
      error: 'INVALID_AID',
      path: ['recipient_aid'],
    })
    .refine(({ content, message }) => (content ?? message) !== undefined, {
      error: 'MISSING_CONTENT',
      path: ['content'],
    }),
  (context: Context, { recipient_aid, to = '', content, message = '', message_type, metadata }, sender, call) =>
    send(
      context,
      {
        sender,
        to: [recipient_aid ?? to],
        message: { content: content ?? message, msg_type: message_type, metadata },
        answer: ([message_id = '']) => ({ message_id, delivered_to_inbox: true, webhook_queued: false }),
      },
      call,
    ),
);
