import { isIP } from 'node:net';
import { natsServers } from '@acsp/bus';
import { secretList } from '@acsp/operation';
import { z } from 'zod';

const isHost = (host: string) => isIP(host) !== 0 || (/^[\w.-]+$/.test(host) && !/^[\d.]+$/.test(host));

const hasUser = (url: string) => /^[^/]*[/\\]*[^/\\]*@/.test(url);

/** grpc-js would look up a URL of an unknown scheme as a name, for ever, and take 443 for a port that is absent. */
const grpcForm = /^(?:dns:(?:\/\/[^/]*\/)?)?(?:\[[0-9a-f:.]+\]|[\w.-]+):\d{1,5}$|^(?:unix|ipv4|ipv6):./i;

const postgresForm = /^postgres(?:ql)?:\/\/|^socket:\//i;
/** node-postgres puts a host of its own before a path where there is none. */
const isPostgres = (url: string) =>
  postgresForm.test(url) && URL.canParse(url.replace(/(^\w+:\/\/(?:[^/?#]*@)?)\//, '$1host/'));

/** ioredis takes every scheme for `redis:`. Without one it is a host, a port or the path of a socket. */
const isRedis = (url: string) => (/^rediss?:\/\//i.test(url) ? URL.canParse(url) : !url.includes('://'));

function isNats(url: string): boolean {
  try {
    return natsServers(url).length > 0;
  } catch {
    return false;
  }
}

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
  /** The contract door of a service. */
  grpcAddress: z.string().regex(grpcForm, 'it must be host:port, or dns:///host:port for every address of the host'),
  postgresUrl: z
    .string()
    .refine(isPostgres, 'it must be postgresql://host:port/database, with special characters percent-encoded'),
  natsUrl: z.string().refine(isNats, 'it must be nats://host:port or tls://host:port, several of them with commas'),
  redisUrl: z.string().refine(isRedis, 'it must be redis://host:port or rediss://host:port'),
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
