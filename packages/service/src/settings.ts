import { isIP } from 'node:net';
import { secretList } from '@acsp/operation';
import { z } from 'zod';

const isHost = (host: string) => isIP(host) !== 0 || (/^[\w.-]+$/.test(host) && !/^[\d.]+$/.test(host));

const hasUser = (url: string) => /^[^/]*[/\\]*[^/\\]*@/.test(url);

/** Kinds of variables that several processes have. */
export const settings = {
  port: (standard: number) => z.coerce.number().int().min(0).max(65_535).default(standard),
  /** An address or a name to listen on; IPv6 with or without brackets. */
  host: z
    .string()
    .transform((host) => host.replace(/^\[(.*)\]$/, '$1'))
    .refine(isHost, 'it must be an IP address or a host name'),
  /** A base for links: http or https, perhaps with a path; without a slash at its end. */
  publicUrl: z
    .url({ protocol: /^https?$/, error: 'it needs http:// or https:// in front' })
    .refine((url) => !/[?#]/.test(url), 'a query or a fragment cannot be in front of the paths of links')
    .refine((url) => !hasUser(url), 'a user or a password would be in every link')
    .transform((url) => new URL(url).href.replace(/\/+$/, '')),
  flag: (standard: boolean) =>
    z
      .enum(['true', 'false'])
      .default(standard ? 'true' : 'false')
      .transform((text) => text === 'true'),
};

/** `new,old`: several secrets are accepted and the first signs, so that one is replaced without a stop. */
export const secrets = (minLength: number) =>
  z
    .string()
    .transform(secretList)
    .pipe(z.array(z.string().min(minLength)).min(1));
