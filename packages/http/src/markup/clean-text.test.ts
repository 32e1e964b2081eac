import fc from 'fast-check';
import { cleanText } from './clean-text.js';
import { stripMarkup } from './strip-markup.js';

describe('kept to the letter', () => {
  test.each([
    'a < b && c > d',
    'R&D &lt;b&gt; &amp; &#60;i&#62;',
    'Vec<String>',
    'Map<String, List<Integer>>',
    'List<? extends T>',
    'std::vector<std::string, Alloc>',
    'mail <agent@example.com> or see <https://example.com/a/b>',
    'x <y',
    'a <b and c',
    'if (i <n) { x = 1; }',
    'i <- 5; a <= b; a <> b; <3; </>; < script >',
    '<scripting>, <my-widget>, </my-widget>',
    'tabs\tand\r\nlines  stay \u00a0',
    '<?php echo 1 ?>',
  ])('%j', (text) => {
    expect(cleanText(text)).toBe(text);
  });
});

describe('removed', () => {
  test.each([
    ['<p>Hello <b>World</b></p>', 'Hello World'],
    ['<BR><Br/>x</DIV >', 'x'],
    ['<center>old</center> <marquee>x</marquee>', 'old x'],
    ['<svg><circle/><feDropShadow/><linearGradient></svg>x', 'x'],
    ['<math><mi>x</mi></math>', 'x'],
    ['a <!-- b --> c <!--> d <!---> e --!> f', 'a  c  d  e --!> f'],
    ['a <!-- b --!> c', 'a  c'],
    ['a<script>alert("<b>")</script>b', 'ab'],
    ['a<SCRIPT src=x>1</script x="</b>">b', 'ab'],
    ['a<style\n>p > b { }</style\t>b', 'ab'],
    ['a</script>b', 'ab'],
    ['<a href="https://x.org/?a>b" title=\'>\'>link</a>', 'link'],
    ['<img/src=x/onerror=alert(1)>', ''],
    ['<x-y onclick=alert(1)>t</x-y>', 't</x-y>'],
    ['<unknown attribute>t', 't'],
    ['<x, onclick=alert(1)>t', 't'],
    ['<http://onclick=alert(1)>t', 't'],
    ['<img< src=x onerror=alert(1)>t', 't'],
    ['</foo bar="1">t', 't'],
  ])('%j becomes %j', (text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });
});

describe('what nothing closes', () => {
  test.each([
    ['a <script', 'a '],
    ['a <script>b </b>', 'a '],
    ['a <script src="', 'a '],
    ['a <script>b</script', 'a '],
    ['a <style>b', 'a '],
    ['a <!-- b > c', 'a '],
    ['a <img src=x ', 'a '],
    ['a <img src="> b', 'a '],
    ['a <foo x onclick=alert(1) ', 'a '],
    ['a <foo x="> b', 'a <foo x="> b'],
  ])('%j becomes %j', (text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });
});

describe('made by removal', () => {
  test.each([
    ['<scr<b>ipt>alert(1)</script>', ''],
    ['<<b>img src=x onerror=alert(1)>t', 't'],
    ['<!-<!-- -->- x --> y', ' y'],
    ['<a<b> onclick=y>t', 't'],
  ])('%j becomes %j', (text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });

  test('however deep it is nested', () => {
    const nested = `${'<'.repeat(2_000)}${'b>'.repeat(2_000)}`;
    expect(cleanText(nested)).not.toMatch(/<\/?b>/);
  });
});

/** Pieces from which markup, and what only looks like it, is put together. */
const pieces = fc
  .array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom('<', '>', '/', '!', '-', '--', '"', "'", '=', ' ', '\n', '<!--', '-->', '</'),
      },
      {
        weight: 4,
        arbitrary: fc.constantFrom('b', 'script', 'style', 'img', 'svg', 'x-y', 'String', 'onclick', 'src'),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
    ),
    { maxLength: 60 },
  )
  .map((list) => list.join(''));

test('cleaning twice is cleaning once', () => {
  fc.assert(
    fc.property(pieces, (text) => cleanText(cleanText(text)) === cleanText(text)),
    { numRuns: 2_000 },
  );
});

test('nothing that a browser takes for an element of HTML, a script or a handler is left', () => {
  const element =
    /<\/?(?:b|img|svg|script|style)(?:[\t\n\f\r /][^>]*)?>|<!--|<script[\s/>]|<[a-z][^>]*[\s/"']onclick\s*=/i;
  fc.assert(
    fc.property(pieces, (text) => {
      expect(cleanText(text)).not.toMatch(element);
    }),
    { numRuns: 2_000 },
  );
});

test('text without a letter, slash or comment behind a `<` is never touched', () => {
  const plain = pieces.map((text) => text.replaceAll(/<(?=[a-z/!])/gi, '< '));
  fc.assert(fc.property(plain, (text) => cleanText(text) === text));
});

describe('effort grows with the length, not faster', () => {
  const length = 65_536;
  const fill = (piece: string, last = '') => piece.repeat(Math.floor(length / piece.length)) + last;

  test.each([
    ...[
      '<',
      '<a',
      '<a ',
      '<q ',
      '<q/',
      '<x, ',
      '<!--',
      '<!-- --!',
      '<!---',
      '<script',
      '<script>',
      '</script',
      '<style ',
    ],
    ...[
      '<q x=">"',
      '<q x=\'">"',
      '<q x="\'>',
      '<a b=">"<a b=\'>',
      '<q =',
      '<q onx ',
      ' onclick ',
      '<b>',
      '<q<q ',
      '< q',
      '</',
    ],
  ])('on %j over and over', (piece) => {
    for (const last of ['', '>', '="', '=">', '="\'>', '     >', 'x=1']) {
      const text = fill(piece, last);
      expect(stripMarkup(text).work).toBeLessThan(12 * text.length);
      cleanText(text);
    }
  });

  test('on long runs of white space, names and attributes', () => {
    for (const run of [' ', 'q', '/', '=', '"', 'x ', "'>"]) {
      for (const start of [fill('<q').slice(0, length / 2), '<q ', '<b ', '<q x="']) {
        const text = `${start}${run.repeat(length / 2)}"x=">`;
        expect(stripMarkup(text).work).toBeLessThan(12 * text.length);
      }
    }
  });

  test('on anything', () => {
    const repeated = fc
      .tuple(pieces, pieces, pieces)
      .map(([before, piece, after]) => before + piece.repeat(200) + after);
    fc.assert(fc.property(repeated, (text) => stripMarkup(text).work <= 12 * text.length));
  });
});
