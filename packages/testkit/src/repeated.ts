import type { Agent, Idempotency } from '@acsp/operation';
import type { Answer, TestService } from './start-service.js';

export interface PostRequest {
  readonly who: Agent;
  readonly path: string;
  readonly body: object;
}

let keys = 0;

/** The digests of a request with an Idempotency-Key of its own, as the gateway hands them on. */
export function newKey(): Idempotency {
  keys += 1;
  return { key: `key ${keys}`, print: `print ${keys}` };
}

type Replica = Pick<TestService<unknown>, 'call'>;

export const sendUnder = (at: Replica, { who, path, body }: PostRequest, idempotency: Idempotency): Promise<Answer> =>
  at.call({ ...who, idempotency }, `POST ${path}`, body);

export interface Repeated {
  /** Two services on one database. */
  readonly replicas: () => readonly [Replica, Replica];
  /** By operation: a request that succeeds once, and one that is refused. */
  readonly operations: Readonly<Record<string, readonly [() => Promise<PostRequest>, () => Promise<PostRequest>]>>;
  /** The rows of every table that an operation writes. */
  readonly countRows: () => Promise<Readonly<Record<string, number>>>;
}

const isReplayed = ({ headers }: Answer) => headers.get('idempotency-replayed') === 'true';

/** Registers the tests that every POST under an Idempotency-Key must pass. */
export function testRepeated({ replicas, operations, countRows }: Repeated): void {
  const all = Object.entries(operations).map(([name, [succeeds, refused]]) => ({ name, succeeds, refused }));

  test.each(all)(
    '$name is done once and answered alike, however often and wherever it is repeated',
    async ({ succeeds }) => {
      const request = await succeeds();
      const [before, idempotency] = [await countRows(), newKey()];
      const first = await sendUnder(replicas()[0], request, idempotency);
      expect([200, 201]).toContain(first.status);
      expect(isReplayed(first)).toBe(false);
      const after = await countRows();
      expect(after).not.toEqual(before);
      for (const at of replicas()) {
        const again = await sendUnder(at, request, idempotency);
        expect([again.status, again.body, isReplayed(again)]).toEqual([first.status, first.body, true]);
      }
      expect(await countRows()).toEqual(after);
    },
  );

  test.each(all)(
    '$name that comes in several times at once, in two services, is done once and answered alike',
    async ({ succeeds }) => {
      for (let round = 0; round < 3; round += 1) {
        const [alone, request] = [await succeeds(), await succeeds()];
        const start = await countRows();
        await sendUnder(replicas()[0], alone, newKey());
        const once = await countRows();
        const idempotency = newKey();
        const answers = await Promise.all(
          [...replicas(), ...replicas()].map((at) => sendUnder(at, request, idempotency)),
        );
        expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
        expect([200, 201]).toContain(answers[0]?.status);
        // As much again as one request has written.
        const twice = Object.entries(once).map(([table, count]) => [table, 2 * count - (start[table] ?? 0)]);
        expect(await countRows()).toEqual(Object.fromEntries(twice));
      }
    },
  );

  test.each(all)('$name that is refused stays refused, in two services at once too', async ({ refused }) => {
    const request = await refused();
    const [before, idempotency] = [await countRows(), newKey()];
    const answers = await Promise.all(replicas().map((at) => sendUnder(at, request, idempotency)));
    expect(answers[0]?.status).toBeGreaterThanOrEqual(400);
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    const again = await sendUnder(replicas()[0], request, idempotency);
    expect([again.status, again.body, isReplayed(again)]).toEqual([answers[0]?.status, answers[0]?.body, true]);
    expect(await countRows()).toEqual(before);
  });
}
