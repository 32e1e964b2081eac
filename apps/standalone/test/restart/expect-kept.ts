import { createCaller, type TestAgent } from '../harness.js';
import type { Promised } from './load.js';

export const detailsFor = (url: string, reader: TestAgent) => async (id: string) =>
  (await createCaller(url).call(reader, `GET /tasks/${id}`)).body;

/** Everything that was answered with success is there, once. */
export async function expectKept(promised: Promised, details: ReturnType<typeof detailsFor>): Promise<void> {
  for (const [id, creator] of promised.created)
    expect((await details(id)).task).toMatchObject({ id, creator_aid: creator });
  for (const [id, claimer] of promised.claimed) {
    const { task, claims, messages } = await details(id);
    expect(task).toMatchObject({ status: 'claimed', assigned_aid: claimer, claims_count: 1 });
    expect(claims).toMatchObject([{ agent_aid: claimer, status: 'accepted' }]);
    const own = [...promised.posted].filter(([, task_id]) => task_id === id).map(([message]) => message);
    expect(messages.map((message: { id: string }) => message.id)).toEqual(expect.arrayContaining(own));
  }
}
