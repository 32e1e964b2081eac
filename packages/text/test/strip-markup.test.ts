import fc from 'fast-check';
import { Tokenizer } from 'parse5';
import { stripMarkup } from '../src/strip-markup.js';
import { markupPieces as pieces } from './markup-pieces.js';

/** States that the tokenizer went through in one round, one for each character that it read. */
function stepsOf(text: string): number {
  let steps = 0;
  const tokenizer = Tokenizer.prototype as unknown as { _callState(codePoint: number): void };
  const { _callState: callState } = tokenizer;
  tokenizer._callState = function (codePoint) {
    steps++;
    callState.call(this, codePoint);
  };
  stripMarkup(text);
  tokenizer._callState = callState;
  return steps;
}

/** Twice on account of tags that stay, and twice of a tag without an end; the end of the text counts as a character. */
const maxSteps = (text: string) => 4 * (text.length + 1);

test('every character of a tag is counted', () => {
  expect(stepsOf('text <x-y>')).toBe('<x-y>'.length + 1);
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
      '<b ',
      '<b z ',
      '< q',
      '</',
      '<b>',
      '<q<q ',
      '<q <b>',
      '<q =',
      '<!x ',
      '<?',
    ],
    ...['<!--', '<!-- --!', '<!---', '<q <!--', '<script', '<script>', '</script', '<script><!--', '<style '],
    ...[
      '<q x=">"',
      '<q x=\'">"',
      '<q x="\'>',
      '<a b=">"<a b=\'>',
      '<b z z=">"',
      '<q onx ',
      ' onclick ',
      '&amp',
      '<q a="&am',
    ],
  ])('on %j over and over', (piece) => {
    for (const last of ['', '>', '="', '=">', '="\'>', '     >', 'x=1']) {
      const text = fill(piece, last);
      expect(stepsOf(text)).toBeLessThanOrEqual(maxSteps(text));
    }
  });

  test('on long runs of white space, names and attributes', () => {
    for (const run of [' ', 'q', '/', '=', '"', 'x ', "'>", '<']) {
      for (const start of [fill('<q').slice(0, length / 2), '<q ', '<b ', '<q x="']) {
        const text = `${start}${run.repeat(length / 2)}"x=">`;
        expect(stepsOf(text)).toBeLessThanOrEqual(maxSteps(text));
      }
    }
  });

  test('on anything', () => {
    const repeated = fc
      .tuple(pieces, pieces, pieces)
      .map(([before, piece, after]) => before + piece.repeat(200) + after);
    fc.assert(fc.property(repeated, (text) => stepsOf(text) <= maxSteps(text)));
  });
});
