/** White space and characters that show nothing: they do not tell two names apart. */
const invisible = /[\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** `acsp`, each letter also as the Cyrillic, Greek or phonetic one that looks the same (UTS 39, confusables). */
const reserved = /^[a\u0430\u03b1\u0251][c\u0441\u03c2\u1d04][s\u0455\ua731][p\u0440\u03c1\u1d18]$/u;

/** The service signs its notices with the name `acsp`, so no agent has it, however it is written. */
export const isReservedName = (name: string): boolean =>
  reserved.test(name.normalize('NFKC').replace(invisible, '').toLowerCase());
