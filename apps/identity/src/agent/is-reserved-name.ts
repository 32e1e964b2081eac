/** White space and characters that show nothing: they do not tell two names apart. */
const invisible = /[\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Letters that look like those of `acsp`, in lower case: Cyrillic, Greek, phonetic, Cherokee, Lisu, Coptic, mathematical (UTS 39, confusables). */
const alike = {
  a: 'a\u0430\u03b1\u0251\u1d00\uab7a\ua4ee\u2c81\u237a',
  c: 'c\u0441\u03c2\u03f2\u1d04\uabaf\ua4da\u2ca5',
  s: 's\u0455\ua731\uabaa\ua4e2',
  p: 'p\u0440\u03c1\u1d18\uabb2\ua4d1\u2ca3',
};
const reserved = new RegExp(`^[${alike.a}][${alike.c}][${alike.s}][${alike.p}]$`, 'u');

/** NFKC makes a sigma of the lunate one, which looks like a c. */
const lunate = /[\u03f2\u03f9]/g;

/** The service signs its notices with the name `acsp`, so no agent has it, however it is written. */
export const isReservedName = (name: string): boolean =>
  reserved.test(name.replace(lunate, 'c').normalize('NFKC').replace(invisible, '').toLowerCase());
