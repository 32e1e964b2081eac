import { EventsService } from '@acsp/contracts/events/v1/events';
import { type BaseContext, settings } from '@acsp/service';
import { z } from 'zod';
import { createPresences, type Presences } from './agent/presences.js';
import type { PrismaClient } from './generated/prisma/client.js';

/** The variables of identity besides those of every service; README.md lists them for operators. */
export const variables = {
  /** The gateway as agents and people reach it: the base of the links and command lines in answers. */
  PUBLIC_URL: settings.publicUrl.default('http://127.0.0.1:8080'),
  /** The region number of agents that register here. */
  REGION_ID: z.coerce.number().int().min(0).max(2_147_483_647).default(0),
  /** Absent: every agent looks as if it was never seen. */
  EVENTS_GRPC: settings.grpcAddress.optional(),
};

export interface Context extends BaseContext<PrismaClient, typeof variables> {
  /** The number of active agents, as of the last three seconds. */
  readonly countActive: () => Promise<number>;
  readonly presenceOf: Presences;
}

const countedForMs = 3_000;

/** Anybody may ask for the health without a limit, so the table is counted once in a few seconds at most. */
export function createContext(base: BaseContext<PrismaClient, typeof variables>): Context {
  let counted: { readonly count: Promise<number>; readonly at: number } | undefined;
  const { EVENTS_GRPC } = base.config;
  return {
    ...base,
    presenceOf: createPresences(EVENTS_GRPC === undefined ? undefined : base.peer(EventsService, EVENTS_GRPC)),
    countActive() {
      const now = base.clock.now().getTime();
      if (counted !== undefined && now - counted.at < countedForMs) return counted.count;
      const count = base.database.prisma.agent.count({ where: { status: 'active' } });
      counted = { count, at: now };
      count.catch(() => {
        counted = undefined;
      });
      return count;
    },
  };
}
