import { gauge } from '@acsp/telemetry';
import type { Radio } from './radio.js';

/** The open streams of this process, by what may end them. */
export interface Registry {
  add(radio: Radio): void;
  /** The stream is that of its token, in place of another. */
  claim(radio: Radio): void;
  remove(radio: Radio): void;
  all(): Iterable<Radio>;
  byToken(token_id: string): Radio | undefined;
  byAgent(aid: string): readonly Radio[];
}

const open = gauge('acsp_open_streams', 'Open event streams of this process', []);

export function createRegistry(): Registry {
  const radios = new Set<Radio>();
  const tokens = new Map<string, Radio>();
  const agents = new Map<string, Radio[]>();
  open.export({}, () => radios.size);
  return {
    add(radio) {
      radios.add(radio);
      // Most agents have one stream, and a Set for it would take 200 bytes.
      agents.set(radio.aid, [...(agents.get(radio.aid) ?? []), radio]);
    },
    claim: (radio) => void tokens.set(radio.token_id, radio),
    remove(radio) {
      radios.delete(radio);
      if (tokens.get(radio.token_id) === radio) tokens.delete(radio.token_id);
      const others = agents.get(radio.aid)?.filter((other) => other !== radio) ?? [];
      if (others.length > 0) agents.set(radio.aid, others);
      else agents.delete(radio.aid);
    },
    all: () => radios,
    byToken: (token_id) => tokens.get(token_id),
    byAgent: (aid) => agents.get(aid) ?? [],
  };
}
