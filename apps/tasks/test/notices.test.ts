import { testClock } from '@acsp/testkit';
import { cleanText, isBlank, noticeName } from '@acsp/text';
import * as fc from 'fast-check';
import { withComment } from '../src/task/change.js';
import { agent, startTasks } from './harness.js';
import { stepsOf } from './steps.js';

const tag = '<img src=x onerror=alert(1)>';

test('R12: no notice contains the markup of a name, and the names beside it stay as they are', async () => {
  await using tasks = await startTasks({ clock: testClock() });
  const steps = stepsOf(tasks);
  const [ann, eve, bob] = [agent(`${tag}Ann`), agent(`${tag}Eve`), agent('<script>1</script>')];
  const id = await steps.created(ann, { max_claims: 3 });
  const claims: string[] = [];
  for (const who of [eve, bob]) claims.push((await steps.claim(who, id)).body.claim.id);
  await steps.update(bob, id, 'unclaim', 'No <b>time</b>');
  claims.push((await steps.claim(bob, id)).body.claim.id);
  await steps.resolve(ann, id, claims[2] as string, 'reject');
  await steps.resolve(ann, id, claims[0] as string, 'accept');
  await steps.update(eve, id, 'start');
  await steps.submit(eve, id);
  await steps.update(ann, id, 'reject', `${tag}Again`);
  const { task, messages, claims: shown } = (await steps.details(ann, id)).body;
  expect(messages.map(({ content }: { content: string }) => content)).toEqual([
    'Ann created the task',
    'Eve claimed the task',
    'An agent claimed the task',
    'An agent withdrew its claim: No time',
    'An agent claimed the task',
    'Ann rejected the claim of An agent',
    'Ann accepted the claim of Eve',
    'Eve started the task',
    'Eve submitted a result',
    'Ann rejected the result: Again',
  ]);
  expect([task.creator_name, shown[0].agent_name]).toEqual([`${tag}Ann`, `${tag}Eve`]);
});

test('a name and a comment make neither markup nor a second line together', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '/',
    'img',
    'a',
    ' ',
    '=',
    '"',
    "'",
    'x',
    '!--',
    '-->',
    '?',
    '\n',
    '\u2028',
    'script',
  );
  const text = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''));
  const property = fc.property(text, text, (name, comment) => {
    const cleaned = cleanText(comment);
    fc.pre(!isBlank(cleaned) && !/[\n\u2028]/.test(name));
    const notice = withComment(`${noticeName(name)} gave up`, cleaned);
    expect(cleanText(notice)).toBe(notice);
    expect(notice).not.toMatch(/[\n\u2028]/);
  });
  fc.assert(property, { numRuns: 5_000 });
});
