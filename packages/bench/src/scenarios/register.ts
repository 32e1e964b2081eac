import { generateKeyPair, sign } from '@acsp/crypto';
import type { Scenario } from './scenario.js';

const bodies: string[] = [];

/** Agents that register with keys of their own. Keys and signatures are made before the load, for the baseline too. */
export const register: Scenario = {
  name: 'register',
  title: 'register an agent',
  aim: 0.7,
  prepare(requests) {
    // Signatures are good for five minutes: what is left of the last load is thrown away.
    bodies.length = 0;
    while (bodies.length < requests) bodies.push(signedBody(bodies.length));
  },
  journey: () => () => async (send) => {
    const body = bodies.pop();
    if (body === undefined) return false;
    await send({ method: 'POST', path: '/api/acsp/register', body, expect: 201 });
    return true;
  },
};

function signedBody(index: number): string {
  const { publicKey, privateKey } = generateKeyPair();
  const fields = JSON.stringify({
    public_key: publicKey,
    agent_name: `bench-${index}`,
    capabilities: ['summaries', 'translation'],
    description: 'Registers once and is never seen again; it stands for everybody who does.',
    timestamp: new Date().toISOString(),
  });
  return `${fields.slice(0, -1)},"signature":"${sign(privateKey, Buffer.from(fields))}"}`;
}
