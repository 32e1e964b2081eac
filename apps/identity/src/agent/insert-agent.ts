import { type EventRow, eventColumns, insertEvents } from '@acsp/bus';
import { type BatchStatement, untilWritten } from '@acsp/database';
import { AppError } from '@acsp/errors';
import type { Call } from '@acsp/operation';
import type { JsonObject } from '@bufbuild/protobuf';
import type { Context } from '../context.js';
import { agentEvent, events } from '../events.js';
import type { Agent } from '../generated/prisma/client.js';
import { loginKeyDays, type NewLoginKey, newLoginKey } from '../login-key/new-login-key.js';

/** An agent as it asks to be registered. */
export type Registration = Pick<Agent, 'aid' | 'public_key' | 'agent_name' | 'capabilities' | 'description'> &
  Partial<Pick<Agent, 'owner_id' | 'endpoint' | 'signed_at'>> & { readonly metadata: JsonObject };

/**
 * Registers an agent and gives it its first login key, or throws AID_EXISTS: of two at once one wins. The life of an agent that was deleted and
 * registers again begins after the former one, whatever the clocks of replicas say: all services tell lives apart by that time.
 */
export async function insertAgent(context: Context, registration: Registration, call: Call): Promise<NewLoginKey> {
  let earliest = 0;
  const attempt = async () => {
    const key = newLoginKey(new Date(Math.max(context.clock.now().getTime(), earliest)), loginKeyDays);
    const row = rowOf(context, registration, key);
    if ((await context.database.batch(insertAgents, row, call)) !== undefined) return key;
    const former = await findFormer(context, registration);
    earliest = former.created_at.getTime() + 1;
    return undefined;
  };
  return untilWritten(attempt, { call });
}

function rowOf({ config }: Context, registration: Registration, key: NewLoginKey): Input {
  const { aid, public_key, agent_name, capabilities, description, owner_id, endpoint, metadata, signed_at } =
    registration;
  return {
    aid,
    public_key,
    agent_name,
    capabilities,
    description,
    metadata,
    owner_id: owner_id ?? null,
    endpoint: endpoint ?? null,
    region_id: config.REGION_ID,
    created_at: key.createdAt,
    signed_at: signed_at ?? unsigned,
    hash: `\\x${key.hash.toString('hex')}`,
    expires_at: key.expiresAt,
    ...events.row(agentEvent('registered', { ...registration, created_at: key.createdAt }), key.createdAt),
  };
}

const unsigned = new Date(0);

/** The former life, behind which the new one has to begin. Throws where there may be no new one. */
async function findFormer({ database }: Context, { aid, signed_at }: Registration): Promise<Agent> {
  const known = await database.prisma.agent.findUnique({ where: { aid } });
  if (known?.deleted_at == null) throw new AppError('AID_EXISTS');
  if (known.deleted_at <= (signed_at ?? unsigned)) return known;
  const fields = [{ field: 'timestamp', message: 'must not be before the deletion of this AID' }];
  throw new AppError('INVALID_TIMESTAMP', { fields });
}

interface Input extends EventRow, Required<Registration> {
  readonly region_id: number;
  readonly created_at: Date;
  /** SHA-256 of the login key, as PostgreSQL writes bytes. */
  readonly hash: string;
  readonly expires_at: Date;
}

const written = [
  ...[
    'aid',
    'public_key',
    'agent_name',
    'capabilities',
    'description',
    'metadata',
    'endpoint',
    'owner_id',
    'region_id',
  ],
  ...['created_at', 'signed_at'],
];

/** Agent, login key and event in one round trip. A deleted agent's row is taken over by what was signed after the deletion and begins later. */
const insertAgents: BatchStatement<Input, object> = {
  name: 'register',
  columns: {
    aid: 'text',
    public_key: 'text',
    agent_name: 'text',
    capabilities: 'text[]',
    description: 'text',
    metadata: 'json',
    endpoint: 'text',
    owner_id: 'text',
    region_id: 'int',
    created_at: 'timestamptz',
    signed_at: 'timestamptz',
    hash: 'bytea',
    expires_at: 'timestamptz',
    ...eventColumns,
  },
  key: ({ aid }) => aid,
  text: `
    , made AS (
      INSERT INTO agent (
        ${written.join(', ')}, updated_at
      )
      SELECT ${written.join(', ')}, created_at FROM input
      ON CONFLICT (aid) DO UPDATE
      SET status = 'active', deleted_at = NULL, updated_at = excluded.updated_at, ${written.map((name) => `${name} = excluded.${name}`).join(', ')}
      WHERE agent.deleted_at <= excluded.signed_at AND agent.created_at < excluded.created_at
      RETURNING aid
    ),
    keyed AS (
      INSERT INTO login_key (hash, aid, created_at, expires_at)
      SELECT hash, aid, created_at, expires_at FROM input JOIN made USING (aid)
    ),
    registered AS (SELECT input.* FROM input JOIN made USING (aid)),
    ${insertEvents('registered')}
    SELECT aid AS key FROM made`,
};
