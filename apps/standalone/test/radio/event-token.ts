import { randomUUID } from 'node:crypto';
import { createTokens } from '@acsp/events/token/tokens';
import { principalSecret } from '@acsp/testkit';
import type { TestAgent, World } from '../harness.js';

export async function eventToken(world: World, agent: TestAgent): Promise<string> {
  const { body } = await world.call(agent, 'POST /events/token', {});
  return body.token;
}

/** A token like those of the service, signed as it signs them, that is good for these seconds only. */
export async function shortToken(world: World, agent: TestAgent, seconds: number): Promise<string> {
  const tokens = createTokens([principalSecret]);
  const grant = await tokens.verify(await eventToken(world, agent));
  const expires_at = new Date(Date.now() + seconds * 1_000);
  return tokens.sign({ ...grant, token_id: randomUUID(), expires_at });
}

export const radioUrl = (world: World, token: string): string => `${world.url}/api/acsp/events/radio?token=${token}`;
