import { EventEmitter } from 'node:events';

/** Wakes readers at once when a bus of the same process has published; the name of an announcement is the database's URL. */
const announcements = new EventEmitter().setMaxListeners(0);

export const announce = (databaseUrl: string): boolean => announcements.emit(databaseUrl);

/** Answers the function that ends the listening. */
export function onAnnouncement(databaseUrl: string, listener: () => void): () => void {
  announcements.on(databaseUrl, listener);
  return () => announcements.off(databaseUrl, listener);
}
