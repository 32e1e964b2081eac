import { v7 } from 'uuid';

/** A UUID version 7 (RFC 9562): ids of one process sort in the order in which they were made. */
export const newId = (): string => v7();
