import type { Letter } from './send.js';

export interface Notice extends Pick<Letter, 'id' | 'to_aid' | 'content' | 'msg_type'> {
  readonly from_aid: string | null;
  readonly from_name: string;
  readonly match_score: number | null;
}

/** The event `notice.delivered` of a notice, for its recipient alone. */
export function noticeEvent({ id: message_id, from_aid, from_name, to_aid, content, msg_type, match_score }: Notice) {
  const payload = { message_id, from_aid, from_name, to_aid, content, msg_type, match_score };
  return { type: 'notice.delivered', audience: [`agent:${to_aid}`], actor: from_aid, payload } as const;
}
