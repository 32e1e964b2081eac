import { z } from 'zod';
import { type BaseContext, defineService, type Peer } from '../../src/index.js';
import { PrismaClient } from '../generated/prisma/client.js';
import { CreateNoteResponseSchema, TrialService } from '../generated/proto/acsp/trial/v1/trial_pb.js';
import { operations } from './operations.js';

const variables = { PEER_ADDRESS: z.string().optional() };

type Base = BaseContext<PrismaClient, typeof variables>;

export interface Context extends Pick<Base, 'database'> {
  readonly peer: Peer<typeof TrialService> | undefined;
  /** The traces that operations leave for tests. */
  readonly seen: Seen;
}

export interface Seen {
  /** Handlers that ran. */
  calls: number;
  /** Signals of calls that hang. */
  readonly signals: AbortSignal[];
  /** Items that streams have made, and streams that have ended. */
  items: number;
  ended: number;
  /** Calls that wait go on when it opens. */
  readonly gate: Gate;
}

export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

/** A service of operations that stand for what the doors carry. */
export const trial = defineService({
  name: 'trial',
  contract: TrialService,
  events: { note: CreateNoteResponseSchema },
  config: variables,
  migrations: new URL('migrations', import.meta.url),
  client: PrismaClient,
  context: ({ database, config, peer }: Base): Context => ({
    database,
    peer: config.PEER_ADDRESS === undefined ? undefined : peer(TrialService, config.PEER_ADDRESS),
    seen: { calls: 0, signals: [], items: 0, ended: 0, gate: createGate() },
  }),
  operations,
});

function createGate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
