import { outboxRow } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Context } from '../context.js';
import { Prisma } from '../generated/prisma/client.js';
import { loginKeyDays, type NewLoginKey, newLoginKey } from '../login-key/new-login-key.js';
import { agentEvent } from './event.js';

/** An agent as it asks to be registered. */
export interface Draft {
  readonly aid: string;
  readonly publicKey: string;
  readonly agentName: string;
  readonly capabilities: string[];
  readonly description: string;
  readonly ownerId?: string;
  readonly endpoint?: string;
  readonly metadata: JsonObject;
}

/** Registers an agent and gives it its first login key, or throws AID_EXISTS: of two at once one wins. */
export async function insertAgent({ database, config, clock }: Context, draft: Draft): Promise<NewLoginKey> {
  const key = newLoginKey(clock.now(), loginKeyDays);
  const [inserted] = await database.query(insertStatement(draft, config.REGION_ID, key));
  if (inserted === undefined) throw new AppError('AID_EXISTS');
  return key;
}

/** Agent, login key and event in one round trip. */
function insertStatement(draft: Draft, regionId: number, key: NewLoginKey): Prisma.Sql {
  const { aid, capabilities, description } = draft;
  const event = outboxRow(agentEvent('registered', { aid, agent_name: draft.agentName, capabilities, description }));
  const now = Prisma.sql`${key.createdAt}::timestamptz`;
  return Prisma.sql`
    WITH made AS (
      INSERT INTO agent (
        aid, public_key, agent_name, capabilities, description, metadata, endpoint, owner_id, region_id, created_at, updated_at
      )
      VALUES (
        ${aid}, ${draft.publicKey}, ${draft.agentName}, ${capabilities}::text[], ${description}, ${JSON.stringify(draft.metadata)}::jsonb,
        ${draft.endpoint ?? null}, ${draft.ownerId ?? null}, ${regionId}::int, ${now}, ${now}
      )
      ON CONFLICT DO NOTHING
      RETURNING aid
    ),
    told AS (
      INSERT INTO bus.outbox (id, type, occurred_at, audience, actor, payload)
      SELECT ${event.id}::uuid, ${event.type}, ${now}, ${event.audience}::text[], ${event.actor}, ${event.payload}::jsonb FROM made
    )
    INSERT INTO login_key (hash, aid, created_at, expires_at)
    SELECT ${key.hash}, aid, ${now}, ${key.expiresAt}::timestamptz FROM made
    RETURNING aid`;
}
