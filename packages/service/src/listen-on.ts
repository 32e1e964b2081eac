import { ConfigError } from './load-config.js';

/** Codes of errno(3) and getaddrinfo(3) that speak of the host and not of the port. */
const ofHost = new Set<unknown>([
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EINVAL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
]);

/** Opens a door. Rejects with a ConfigError that names the variable of its host where this machine cannot listen on that. */
export async function listenOn<T>(variable: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!ofHost.has((error as { code?: unknown }).code)) throw error;
    throw new ConfigError([
      `${variable} is wrong (this machine has no such address: name one of its own, or 0.0.0.0 for all)`,
    ]);
  }
}
