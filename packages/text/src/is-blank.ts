/**
 * Unassigned code points and private use count as visible, because a newer font may show them. U+2800 (braille without dots) is a symbol to
 * Unicode, so no property names it. U+3164 (Hangul filler) is default-ignorable.
 */
const visible = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** True when a text shows nothing: white space, controls, format and default-ignorable characters, U+2800 and U+3164, or no character at all. */
export const isBlank = (text: string): boolean => !visible.test(text);
