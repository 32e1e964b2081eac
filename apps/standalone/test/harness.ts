import { randomBytes } from 'node:crypto';
import { aidOf, generateKeyPair, type KeyPair, sign } from '@acsp/crypto';
import { createHealth, createLogger, createStack } from '@acsp/service';
import { principalSecret, serverUrl } from '@acsp/testkit';
import pg from 'pg';
import { configSchema } from '../src/config.js';
import { services } from '../src/services.js';
import { type Standalone, startStandalone } from '../src/standalone.js';

export interface TestAgent {
  readonly aid: string;
  readonly name: string;
  readonly loginKey: string;
  readonly publicKey: string;
  readonly privateKey: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely.
  readonly body: any;
}

export interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  /** The bytes that go over the wire. */
  readonly body?: string;
}

export interface World extends AsyncDisposable {
  readonly standalone: Standalone;
  readonly url: string;
  /** The token of the scheduler. */
  readonly internalToken: string;
  /** The database of a service, of the `bus` or of the `gateway`. */
  readonly databaseUrl: (name: string) => string;
  /** The same, open; throws where none has that name. */
  readonly database: (name: string) => pg.Pool;
  /** One request, `POST /tasks/claim`, as given. A stream is closed again once it is open. */
  send(request: string, sending?: Sending): Promise<Answer>;
  /** The same with an agent's login key and JSON. */
  call(agent: TestAgent | undefined, request: string, body?: object): Promise<Answer>;
  /** The same with an agent's signature in the body, and the time. */
  callSigned(agent: Pick<TestAgent, 'privateKey'>, request: string, fields: object): Promise<Answer>;
  /** An agent by quickstart. */
  quickstart(name: string): Promise<TestAgent>;
  /** An agent by register, with a key pair of its own. */
  register(name: string, keys?: KeyPair): Promise<TestAgent>;
}

/** The databases of a world: that of each service, of the embedded bus, and of the gateway's store. */
const databases: readonly string[] = ['bus', 'gateway', ...services.map(({ name }) => name)];
const log = createLogger({ name: 'standalone', level: 'silent' });

export interface WorldOptions {
  /** Multiplies every limit; without it they are out of the way. */
  readonly rateLimitScale?: number;
  /** Variables of the standalone, such as the URLs of servers. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A whole standalone in this process, on databases of its own. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const [world] = await startReplicas(1, options);
  return world as World;
}

/** Standalones in this process on the same databases, and on the same servers of `env`: replicas of everything. The first one ends them all. */
export async function startReplicas(many: number, options: WorldOptions = {}): Promise<World[]> {
  const stack = createStack();
  const prefix = `test_${randomBytes(8).toString('hex')}_`;
  stack.defer(() => dropDatabases(prefix));
  const worlds: World[] = [];
  for (let n = 0; n < many; n += 1) worlds.push(stack.use(await startOne(prefix, options)));
  const end = { [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
  return worlds.map((world, n) => (n === 0 ? { ...world, ...end } : world));
}

async function startOne(prefix: string, { rateLimitScale = 100_000, env }: WorldOptions): Promise<World> {
  const stack = createStack();
  const internalToken = randomBytes(16).toString('hex');
  const config = configSchema.parse({
    ...env,
    PORT: 0,
    DATABASE_URL: serverUrl('postgres'),
    DATABASE_PREFIX: prefix,
    RATE_LIMIT_SCALE: `${rateLimitScale}`,
    PRINCIPAL_SECRET: principalSecret,
    INTERNAL_TOKEN: internalToken,
  });
  const standalone = stack.use(await startStandalone({ config, log, health: createHealth() }));
  const databaseUrl = (name: string) =>
    Object.assign(new URL(serverUrl('postgres')), { pathname: `/${prefix}${name}` }).href;
  const pools = Object.fromEntries(
    databases.map((name) => [name, new pg.Pool({ connectionString: databaseUrl(name), max: 2 }).on('error', () => {})]),
  );
  stack.defer(async () => void (await Promise.all(Object.values(pools).map((pool) => pool.end()))));
  return {
    ...createCaller(standalone.url),
    standalone,
    internalToken,
    databaseUrl,
    database(name) {
      const pool = pools[name];
      if (pool === undefined) throw new Error(`no database is named ${name}`);
      return pool;
    },
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

/** The requests of a world, for any address that serves the API. */
export function createCaller(
  url: string,
): Pick<World, 'url' | 'send' | 'call' | 'callSigned' | 'quickstart' | 'register'> {
  const send: World['send'] = async (request, { headers = {}, body } = {}) => {
    const [method, path] = request.split(' ');
    const json = body === undefined ? undefined : { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/acsp${path}`, {
      method,
      headers: { accept: 'application/json', ...json, ...headers },
      body,
      signal: AbortSignal.timeout(10_000),
    });
    const { status, headers: received } = answer;
    if (received.get('content-type') === 'text/event-stream') {
      await answer.body?.cancel();
      return { status, headers: received, body: undefined };
    }
    const text = await answer.text();
    return { status, headers: received, body: text === '' ? undefined : JSON.parse(text) };
  };
  const callSigned: World['callSigned'] = (agent, request, fields) =>
    send(request, { body: signedBody(agent, { timestamp: new Date().toISOString(), ...fields }) });
  return {
    url,
    send,
    callSigned,
    call: (agent, request, body) =>
      send(request, {
        headers: agent && { authorization: `Bearer ${agent.loginKey}` },
        body: body && JSON.stringify(body),
      }),
    async quickstart(name) {
      const answer = await send('POST /quickstart', {
        body: JSON.stringify({ agent_name: name, capabilities: ['testing'] }),
      });
      return toAgent(answer, 201);
    },
    async register(name, { publicKey, privateKey } = generateKeyPair()) {
      const answer = await callSigned({ privateKey }, 'POST /register', registration({ name, publicKey }));
      return { ...toAgent(answer, 201), publicKey, privateKey };
    },
  };
}

/** The fields with which an agent registers, but the time and the signature. */
export const registration = ({ name, publicKey }: Pick<TestAgent, 'name' | 'publicKey'>) => ({
  public_key: publicKey,
  agent_name: name,
  capabilities: ['testing'],
  description: `${name}, made by a test`,
});

/** The text of `JSON.stringify({ ...fields, signature })`. */
export function signedBody({ privateKey }: Pick<TestAgent, 'privateKey'>, fields: object): string {
  const text = JSON.stringify(fields);
  return `${text.slice(0, -1)},"signature":"${sign(privateKey, Buffer.from(text))}"}`;
}

/** A path below `/api/acsp` with its query, and the signature over both, or another text in place of it. */
export function signedTarget(
  { privateKey }: Pick<TestAgent, 'privateKey'>,
  target: string,
  parameter = 'signature',
  signature = sign(privateKey, Buffer.from(`/api/acsp${target}`)),
): string {
  return `${target}${target.includes('?') ? '&' : '?'}${parameter}=${signature}`;
}

/** An agent that nobody has registered. */
export function stranger(): Omit<TestAgent, 'loginKey'> {
  const keys = generateKeyPair();
  return { ...keys, aid: aidOf(keys.publicKey), name: 'nobody' };
}

function toAgent({ status, body }: Answer, expected: number): TestAgent {
  if (status !== expected) throw new Error(`no agent: ${status} ${JSON.stringify(body)}`);
  const { aid, agent_name: name, login_key: loginKey, public_key: publicKey, private_key: privateKey } = body;
  return { aid, name, loginKey, publicKey, privateKey };
}

async function dropDatabases(prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl('postgres') });
  await client.connect();
  try {
    for (const name of databases) await client.query(`DROP DATABASE IF EXISTS ${prefix}${name} WITH (FORCE)`);
  } finally {
    await client.end();
  }
}
