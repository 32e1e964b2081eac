const hex64 = /^[0-9a-fA-F]{64}$/;
const hex128 = /^[0-9a-fA-F]{128}$/;

/*
 * Text is tested before it is decoded: Buffer.from(text, 'hex') reads 'İ' (U+0130) as '0', so one signature would have many spellings,
 * and each of them would pass for a new one at the replay check.
 */

/** 32 bytes written as hex, in either case. */
export const isHex64 = (text: string): boolean => hex64.test(text);

/** 64 bytes written as hex, in either case. */
export const isHex128 = (text: string): boolean => hex128.test(text);
