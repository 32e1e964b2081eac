import { type Contestant, connections, measure, type Sample } from './measure.js';
import type { Scenario } from './scenarios/scenario.js';

export interface Pace {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
}

/** The samples of a scenario, round by round. */
export interface Comparison {
  readonly scenario: Scenario;
  readonly acsp: readonly Sample[];
  readonly baseline: readonly Sample[];
}

/** Warms both sides up, then loads them in turns: what disturbs the machine for a while disturbs both. */
export async function compare(
  scenario: Scenario,
  acsp: Contestant,
  baseline: Contestant,
  { rounds, seconds, warmUpSeconds }: Pace,
): Promise<Comparison> {
  const samples: { acsp: Sample[]; baseline: Sample[] } = { acsp: [], baseline: [] };
  const rates = { acsp: 1_000, baseline: 1_000 };
  const load = async (contestant: Contestant, time: number) => {
    const { name } = contestant.side;
    // More than the last rate promises, and at the first time a guess: whoever runs out of prepared requests ends early.
    scenario.prepare?.(Math.ceil(Math.max(rates[name] * 1.5 * time, connections)));
    const sample = await measure(scenario, contestant, time);
    rates[name] = sample.requestsPerSecond;
    return sample;
  };
  for (const contestant of [acsp, baseline]) await load(contestant, warmUpSeconds);
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of [acsp, baseline]) samples[contestant.side.name].push(await load(contestant, seconds));
  }
  return { scenario, ...samples };
}
