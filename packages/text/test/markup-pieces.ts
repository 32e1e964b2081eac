import fc from 'fast-check';

/** Pieces from which markup, and what only looks like it, is put together. */
export const markupPieces = fc
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
    { maxLength: 60, size: 'max' },
  )
  .map((list) => list.join(''));
