import { parseArgs } from 'node:util';
import type { Pace } from './compare.js';

export interface Options {
  readonly pace: Pace;
  /** True when a form or scenario of this name is asked for. */
  /** So many open streams are measured instead of everything else; 0 measures everything else. */
  readonly streams: number;
  readonly wants: (name: string) => boolean;
}

const full: Pace = { rounds: 3, seconds: 5, warmUpSeconds: 3 };
const quick: Pace = { rounds: 1, seconds: 2, warmUpSeconds: 1 };

/**
 * `--quick`: a look, not a measurement. `--only standalone,list`: of the forms (standalone, distributed, grpc, events) and of the scenarios (details, list,
 * create, cycle, register, send, inbox) those named; where none of a kind is named, all of it. Throws on a name that nobody has.
 * `--streams 10000`: what so many open event streams cost, and nothing else.
 */
export function readOptions(args: readonly string[], forms: readonly string[], scenarios: readonly string[]): Options {
  const { values } = parseArgs({
    // pnpm hands its own separator on.
    args: args.filter((arg) => arg !== '--'),
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      streams: { type: 'string', default: '0' },
    },
  });
  const named = values.only.split(',').filter(Boolean);
  const unknown = named.find((name) => !forms.includes(name) && !scenarios.includes(name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: one of ${[...forms, ...scenarios].join(', ')}`);
  const kindNamed = (kind: readonly string[]) => named.some((name) => kind.includes(name));
  return {
    streams: readCount(values.streams),
    pace: values.quick ? quick : full,
    wants: (name) => named.includes(name) || !kindNamed(forms.includes(name) ? forms : scenarios),
  };
}

function readCount(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new Error(`--streams ${text}: a number such as 10000`);
  return Number(text);
}
