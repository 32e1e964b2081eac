import { type Token, Tokenizer, TokenizerMode } from 'parse5';
import { isElement } from './markup-elements.js';
import { openings, takesContent } from './openings.js';

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Why the tokenizer stopped, if not at the end of the text. */
export interface Stop {
  /** The start of markup inside of a tag that stays. */
  markupAt?: number;
  /** The start of the tag that the text does not close. */
  unclosedAt?: number;
}

/** Matches an attribute with a value, behind a tag's name. An equals sign makes a value, even an empty one or that of an attribute that is given twice. */
const attributeValue = /[^\t\n\f\r /][\t\n\f\r ]*=/;

/** Appends the markup from a position on to `found`. */
export function readTags(source: string, from: number, found: Range[]): Stop {
  const stop: Stop = {};
  let contentOf: number | undefined;
  let readTo = from;

  const read = ({ location }: Token.CharacterToken | Token.CommentToken | Token.TagToken): Range => {
    const { startOffset, endOffset } = location as Token.Location;
    // The end tag or comment that the end of the text closes reaches one character beyond it.
    readTo = Math.min(from + endOffset, source.length);
    return { start: from + startOffset, end: readTo };
  };
  const onTag = (token: Token.TagToken, nameOffset: number): void => {
    const { start, end } = read(token);
    const attributes = source.slice(start + nameOffset + token.tagName.length, end);
    if (isElement(token.tagName) || attributeValue.test(attributes)) {
      found.push({ start: contentOf ?? start, end });
      contentOf = undefined;
      return;
    }
    const [inside] = openings(source.slice(start + 1, end));
    if (inside === undefined) return;
    stop.markupAt = start + 1 + inside.at;
    tokenizer.pause();
  };

  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onParseError: null,
      onCharacter: read,
      onWhitespaceCharacter: read,
      onNullCharacter: read,
      onComment: (token) => found.push(read(token)),
      onStartTag(token) {
        if (!takesContent(token.tagName)) return onTag(token, '<'.length);
        contentOf = read(token).start;
        // Setting the state is the parser's part. After any other element text goes on as data, because its tags are removed.
        tokenizer.state = token.tagName === 'script' ? TokenizerMode.SCRIPT_DATA : TokenizerMode.RAWTEXT;
      },
      onEndTag: (token) => onTag(token, '</'.length),
      onDoctype() {},
      onEof() {
        if (contentOf !== undefined) found.push({ start: contentOf, end: source.length });
        else if (readTo < source.length) stop.unclosedAt = readTo;
      },
    },
  );
  tokenizer.write(source.slice(from), true);
  return stop;
}
