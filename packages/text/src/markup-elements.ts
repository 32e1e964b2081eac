import htmlTags from 'html-tags';
import { mathmlTagNames } from 'mathml-tag-names';
import svgTags from 'svg-tags';

/** Elements that the HTML standard (section 16.2) defines as obsolete, and that browsers still know. */
const obsolete = [
  ...['acronym', 'applet', 'basefont', 'bgsound', 'big', 'blink', 'center', 'dir', 'frame', 'frameset', 'isindex'],
  ...['keygen', 'listing', 'marquee', 'menuitem', 'multicol', 'nextid', 'nobr', 'noembed', 'noframes', 'param'],
  ...['plaintext', 'rb', 'rtc', 'spacer', 'strike', 'tt', 'xmp'],
];

/** Elements of SVG 2 and Filter Effects, newer than the list of SVG 1.1. */
const newerSvg = ['discard', 'feDropShadow'];

const elements = new Set(
  [htmlTags, svgTags, mathmlTagNames, obsolete, newerSvg].flat().map((name) => name.toLowerCase()),
);

const longest = Math.max(...[...elements].map((name) => name.length));

/** True when HTML, SVG or MathML define an element of this name, in any case. */
export const isElement = (name: string): boolean => name.length <= longest && elements.has(name.toLowerCase());
