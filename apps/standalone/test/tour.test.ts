import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startWorld, type World } from './harness.js';
import { type Block, blocksOf } from './tour/blocks.js';
import { difference } from './tour/difference.js';

const run = promisify(execFile);
const document = fileURLToPath(new URL('../../../docs/api/tour.md', import.meta.url));
const documentedUrl = 'http://127.0.0.1:8080';

let world: World;
let directory: string;
let blocks: Block[];
let steps: Block[];

beforeAll(async () => {
  blocks = blocksOf(await readFile(document, 'utf8'));
  directory = await mkdtemp(join(tmpdir(), 'acsp-tour-'));
  // The usual limits hold: readers who follow the tour must not run into them.
  world = await startWorld({ rateLimitScale: 1 });
  steps = blocks.filter(({ language }) => language === 'sh');
  await runShell();
}, 120_000);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

test('gives the answers that it shows', async () => {
  expect(steps.length).toBeGreaterThan(10);
  const names = new Map<string, string>();
  for (const [i, block] of blocks.entries()) {
    const step = blocks.slice(0, i).findLast(({ language }) => language === 'sh');
    if (step === undefined || !['json', 'text'].includes(block.language)) continue;
    const printed = (await readFile(join(directory, `${step.line}.out`), 'utf8')).replaceAll(world.url, documentedUrl);
    const found =
      block.language === 'json'
        ? difference(JSON.parse(block.text), JSON.parse(printed), names)
        : difference(block.text, printed.trim(), names);
    expect({ line: block.line, found, printed: found && printed }).toEqual({ line: block.line });
  }
});

const python = await run('python3', ['-c', 'import cryptography']).then(
  () => true,
  () => false,
);
const describePython = python ? describe : describe.skip;

describePython(`the Python of the tour${python ? '' : ' [left out: no python3 with the package cryptography]'}`, () => {
  const programs = () => blocks.filter(({ language }) => language === 'python');
  const runPython = async (program: Block | undefined): Promise<string> => {
    const file = `${program?.line}.py`;
    await writeFile(join(directory, file), (program?.text ?? '').replaceAll(documentedUrl, world.url));
    return (await run('python3', [file], { cwd: directory, timeout: 20_000 })).stdout;
  };

  test('registers an agent', async () => {
    expect(JSON.parse(await runPython(programs()[0]))).toMatchObject({
      agent_name: 'Pia',
      status: 'active',
      login_key: expect.stringMatching(/^nk_/),
    });
  });

  test('opens a negotiation', async () => {
    expect(JSON.parse(await runPython(programs()[1]))).toMatchObject({ status: 'open' });
  });

  test('listens to a channel', async () => {
    expect(await runPython(programs()[2])).toBe('Pia: Bonjour !\n');
  });

  test('has no other programs', () => expect(programs()).toHaveLength(3));
});

/** All steps in one shell, as somebody would type them; what each prints goes into a file that is named after its line. */
async function runShell(): Promise<void> {
  const lines = steps.map(
    ({ text, line }) =>
      `{\n${text.replaceAll(documentedUrl, world.url)}\n} > ${line}.out 2> ${line}.err || fail ${line}`,
  );
  const fail = 'fail() { echo "the step of line $1 failed:" >&2; cat "$1.out" "$1.err" >&2; exit 1; }';
  await writeFile(join(directory, 'tour.sh'), [fail, ...lines].join('\n'));
  await run('bash', ['-o', 'pipefail', 'tour.sh'], { cwd: directory });
}
