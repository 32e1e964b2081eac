import type { ThreadRow } from './present.js';

/** The place of a thread in a list: behind it the next page begins, whatever was written meanwhile. */
export interface Cursor {
  readonly created_at: Date;
  readonly id: string;
}

export const cursorOf = ({ created_at, id }: Pick<ThreadRow, 'created_at' | 'id'>): string =>
  Buffer.from(`${created_at.getTime()} ${id}`).toString('base64url');

/** Times to the year 2286. */
const pattern = /^(\d{1,13}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** Undefined for a text that is no cursor. */
export function readCursor(text: string): Cursor | undefined {
  const [, time, id] = pattern.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  return time === undefined || id === undefined ? undefined : { created_at: new Date(Number(time)), id };
}
