import fc from 'fast-check';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { cleanText } from '../src/clean-text.js';
import { isElement } from '../src/markup-elements.js';
import { markupPieces as pieces } from './markup-pieces.js';

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
    '<!DOCTYPE html>',
    'function f<T extends Foo>(x)',
    'class A<T extends B, U extends keyof T> {}',
    '<unknown attribute>t</unknown>',
    'Promise<T => void>',
    '<my-widget hidden/>',
    '<T extends "a">',
    'Vec<T and nothing more',
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
    ['<x, onclick=alert(1)>t', 't'],
    ['<http://onclick=alert(1)>t', 't'],
    ['<img< src=x onerror=alert(1)>t', 't'],
    ['</foo bar="1">t', 't'],
    ['<foo bar>t<foo bar="">u<foo bar=>v', '<foo bar>tuv'],
    ['<foo bar bar=1>t', 't'],
    ['<textarea><b>x</b></textarea><title>&lt;<i>y</i></title>', 'x&lt;y'],
    ['<plaintext>a<b>b</b>', 'ab'],
    ['<!DOCTYPE <b>x</b>', '<!DOCTYPE x'],
    ['a\r\n<b>\r\n😀</b>\r\n', 'a\r\n\r\n😀\r\n'],
  ])('%j becomes %j', (text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });
});

describe('removed from inside of a tag that stays', () => {
  test.each([
    ['Vec<T <script>alert(1)</script>', 'Vec<T '],
    ['Vec<T <b>x</b>', 'Vec<T x'],
    ['Vec<T <img src="a>b">', 'Vec'],
    ['a <x <!-- > b --> c', 'a <x  c'],
    ['a <x <y <b>c', 'a <x <y c'],
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
    ['a <b c d="> e', 'a  e'],
    ['a <foo x="> <b>c</b> <y z=1>', 'a <foo x="> c '],
    ['a <foo x="> <!-- b', 'a <foo x="> '],
    ['a <foo <img src=x', 'a <foo '],
    ['a <b and c == d', 'a <b and c == d'],
    ['a <!-- b <script>c</script>', 'a '],
    ['a <script><!-- <script> </script> b', 'a '],
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

test('cleaning twice is cleaning once', () => {
  fc.assert(
    fc.property(pieces, (text) => cleanText(cleanText(text)) === cleanText(text)),
    { numRuns: 2_000 },
  );
});

test('nothing that a browser takes for an element of HTML, a script or a handler is left', () => {
  const element =
    /<\/?(?:b|img|svg|script|style)(?:[\t\n\f\r /][^>]*)?>|<!--|<script[\t\n\f\r />]|<[a-z][^\t\n\f\r />]*[\t\n\f\r /](?:[^>]*[\s/"'])?onclick\s*=/i;
  fc.assert(
    fc.property(pieces, (text) => {
      expect(cleanText(text)).not.toMatch(element);
    }),
    { numRuns: 2_000 },
  );
});

/** Every element that a parser makes of a fragment, whatever it is nested in. */
function elementsOf(html: string): readonly DefaultTreeAdapterTypes.Element[] {
  const found: DefaultTreeAdapterTypes.Element[] = [];
  const open: DefaultTreeAdapterTypes.ChildNode[] = [...parseFragment(html).childNodes];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ('tagName' in node) found.push(node);
    if ('childNodes' in node) open.push(...node.childNodes);
  }
  return found;
}

test('a parser finds neither an element of HTML nor a value of an attribute in it', () => {
  fc.assert(
    fc.property(pieces, (text) => {
      for (const { tagName, attrs } of elementsOf(cleanText(text))) {
        expect([tagName, isElement(tagName)]).toEqual([tagName, false]);
        expect(attrs.filter(({ value }) => value !== '')).toEqual([]);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('no script runs when the page that follows closes what the text left open', () => {
  fc.assert(
    fc.property(pieces, fc.constantFrom('>', '">', "'>", ' x>', '--></script></style>'), (text, page) => {
      for (const { tagName, attrs } of elementsOf(cleanText(text) + page)) {
        expect(['script', 'style']).not.toContain(tagName);
        expect(attrs.filter(({ name, value }) => /^on[a-z]+$/.test(name) && value !== '')).toEqual([]);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('text without a letter, slash or comment behind a `<` is never touched', () => {
  const plain = pieces.map((text) => text.replaceAll(/<(?=[a-z/!])/gi, '< '));
  fc.assert(fc.property(plain, (text) => cleanText(text) === text));
});
