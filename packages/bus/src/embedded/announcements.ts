import { EventEmitter } from 'node:events';
import type { StoredMessage } from './stored-messages.js';

/** Tells the buses of this process at once what one of them has published; the name of an announcement is the database's URL. */
const announcements = new EventEmitter().setMaxListeners(0);

/** `page`: what was published, in the order of its positions; empty where that is not known. */
export function announce(databaseUrl: string, page: readonly StoredMessage[]): void {
  announcements.emit(databaseUrl, page);
}

/** Answers the function that ends the listening. */
export function onAnnouncement(databaseUrl: string, listener: (page: readonly StoredMessage[]) => void): () => void {
  announcements.on(databaseUrl, listener);
  return () => announcements.off(databaseUrl, listener);
}
