import { readdir, readFile } from 'node:fs/promises';
import { ChannelEventSchema, ThreadEventSchema } from '@acsp/contracts/messaging/v1/events';
import { TaskEventSchema } from '@acsp/contracts/tasks/v1/events';
import { aidOf, sign, signedBody } from '@acsp/crypto';
import { catalogue, isErrorCode } from '@acsp/errors';
import { shownOf } from '@acsp/events/feed/to-feed';
import { createLimits, type LimitName } from '@acsp/gateway/limits';
import { type Route, routeOf } from '@acsp/operation';
import { services } from '../src/services.js';
import { gatewayFields, targets as paths } from './bad-input/targets.js';
import { type Block, blocksOf } from './tour/blocks.js';

// The pages of docs/api say what the tables of the services say.

/** Every operation by its main path; its aliases are named in its section. */
const targets = paths.filter(({ route }) => routeOf(route.desc)?.path === route.path);

const folder = new URL('../../../docs/api/', import.meta.url);
const read = (page: string) => readFile(new URL(page, folder), 'utf8');
const common = await read('README.md');
const pages = await Promise.all(
  (await readdir(folder)).filter((page) => !['README.md', 'tour.md'].includes(page)).map(read),
);

/** The cells of the rows of a page that begin with a name in code. */
const rowsOf = (markdown: string): string[][] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '').trim()));

const named = (cell = '') => /`([^`]+)`/.exec(cell)?.[1] ?? '';

test('lists every error code with its status and title', () => {
  const listed = rowsOf(common).flatMap(([code, status, title]) =>
    isErrorCode(named(code)) ? [[named(code), Number(status), title]] : [],
  );
  expect(listed).toEqual(Object.entries(catalogue).map(([code, { http, title }]) => [code, http, title]));
});

test('names no code that there is not', () => {
  const codes = [...[common, ...pages].join('\n').matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(
    ([, code]) => code as string,
  );
  expect(codes.filter((code) => !isErrorCode(code))).toEqual([]);
});

test('lists the limits as they are', () => {
  const limits = createLimits(1);
  const listed = rowsOf(common).filter(([name]) => named(name) in limits);
  expect(listed.length).toBeGreaterThan(5);
  for (const [name, perMinute] of listed)
    expect([name, Number(perMinute)]).toEqual([name, limits[named(name) as LimitName].limit]);
});

test('gives an example of a signature that verifies', () => {
  const [keys] = blocksOf(common).filter(({ text }) => text.startsWith('private key'));
  const [privateKey, publicKey, aid] = (keys?.text ?? '').split('\n').map((line) => line.split(/\s+/).at(-1) ?? '');
  const [signed, sent] = blocksOf(common).flatMap(({ text }) => (text.startsWith('{"aid"') ? Buffer.from(text) : []));
  expect(signedBody(sent as Buffer)).toEqual({
    bytes: signed,
    signature: sign(privateKey as string, signed as Buffer),
  });
  expect([aidOf(publicKey as string), privateKey?.slice(64), signed?.length]).toEqual([aid, publicKey, 179]);
});

test.each([
  ['task', TaskEventSchema],
  ['thread', ThreadEventSchema],
  ['channel', ChannelEventSchema],
])('tells what the event %s carries', async (kind, { fields }) => {
  const row = rowsOf(await read('events.md')).find(([name]) => named(name) === kind);
  const told = [...(row?.[1] ?? '').matchAll(/`(\w+)`/g)].map(([, member]) => member);
  // A post is the event message; the life of an agent is between services.
  const internal = new Set(['post', 'registered_at']);
  expect(told).toEqual(['type', ...fields.map(({ name }) => name).filter((name) => !internal.has(name))]);
});

test('agents see the events of every noun, or it is named as one between services', () => {
  const announced = services.flatMap(({ events }) => Object.keys(events));
  expect(Object.keys(shownOf).sort()).toEqual(announced.sort());
});

const pathOf = ({ method, path }: Route) => `${method} ${path}`;

interface Section {
  readonly http: string;
  /** The names of the fields, by table; those marked as required end in an asterisk. */
  readonly tables: string[][];
  readonly answer: Block | undefined;
  readonly text: string;
}

const sections: Section[] = pages.flatMap((page) =>
  page.split('\n## ').flatMap((text) => {
    const http = /^(?:GET|POST) \/api\/acsp\S*?(?=:?\s)/.exec(text)?.[0];
    if (http === undefined) return [];
    const tables = text.split('| field | type | |').slice(1);
    const fields = tables.map((table) =>
      rowsOf(table.split('\n\n')[0] ?? '').map(([name]) => named(name) + (name?.endsWith('*') ? '*' : '')),
    );
    return { http, tables: fields, answer: blocksOf(text).find(({ language }) => language === 'json'), text };
  }),
);

test('has a section for every operation', () => {
  const documented = sections.map(({ http }) => http);
  const served = targets.map(({ route }) => pathOf(route));
  expect(new Set(documented)).toEqual(new Set(served));
});

test('names every alias', () => {
  const aliases = paths.filter((one) => !targets.includes(one)).map(({ route }) => `\`${route.path}\``);
  expect(aliases.length).toBeGreaterThan(0);
  expect(aliases.filter((alias) => !pages.join('').includes(alias))).toEqual([]);
});

const withFields = targets.filter(({ fields }) => fields.length > 0);

test.each(withFields)('tells the fields of $name', (target) => {
  const forms = withFields.filter(({ http }) => http === target.http);
  const tables = sections.filter(({ http }) => http === pathOf(target.route)).flatMap(({ tables }) => tables);
  const ofGateway = gatewayFields(target.route);
  const optional = (name: string) => name === 'login_key';
  const expected = [...target.fields, ...ofGateway].map(
    ({ name, required }) => name + (required && !optional(name) ? '*' : ''),
  );
  expect(tables).toHaveLength(forms.length);
  expect(tables.map((table) => table.toSorted())).toContainEqual(expected.toSorted());
});

test.each(targets)('shows an answer of $name', ({ route }) => {
  const members = membersOf(route);
  const answers = sections
    .filter(({ http }) => http === pathOf(route))
    .map(({ answer, text }) => [Object.keys([JSON.parse(answer?.text ?? '{}')].flat()[0]), text] as const);
  const shown = answers.filter(([keys]) => keys.join() === members.join());
  expect(shown).toHaveLength(1);
  expect(shown[0]?.[1]).toContain(`\n${route.status}`);
});

/** The members of an answer, or of its items where it is a bare array. */
function membersOf({ desc: { output }, answer }: Route): string[] {
  const items = output.fields.find(({ name }) => name === answer)?.message ?? output;
  return items.fields.map(({ name }) => name);
}
