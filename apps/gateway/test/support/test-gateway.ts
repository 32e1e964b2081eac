import { Writable } from 'node:stream';
import { createPrincipals, type Principals } from '@acsp/operation';
import { createLogger, createStack, loadConfig } from '@acsp/service';
import { memoryStore } from '@acsp/store';
import { configSchema } from '../../src/config.js';
import type { Overrides } from '../../src/context.js';
import { start } from '../../src/server.js';
import { ask, type Question, type Reply } from './ask.js';
import { type FakeIdentity, fakeIdentity } from './fake-identity.js';
import { type StandIn, standIn } from './stand-in.js';

export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  readonly identity: FakeIdentity;
  /** The service behind every operation. */
  readonly service: StandIn;
  readonly principals: Principals;
  /** Everything it has logged. */
  readonly log: string[];
  get(path: string, question?: Question): Promise<Reply>;
  post(path: string, body: object | string, question?: Question): Promise<Reply>;
}

export interface TestGatewayOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly overrides?: Overrides;
}

const secret = 'a secret of the tests which is 32 or longer';
const services = ['IDENTITY', 'SEARCH', 'MESSAGING', 'TASKS', 'WORKSPACE', 'EVENTS', 'WEBHOOK'];

/** A real gateway with generous limits, in front of stand-ins. Paths are below `/api/acsp/`. */
export async function testGateway({ env = {}, overrides = {} }: TestGatewayOptions = {}): Promise<TestGateway> {
  const stack = createStack();
  const principals = createPrincipals((env.PRINCIPAL_SECRET ?? secret).split(','));
  const identity = stack.use(await fakeIdentity(principals));
  const service = stack.use(await standIn(principals));
  const config = loadConfig(configSchema, {
    HOST: '127.0.0.1',
    PORT: '0',
    PRINCIPAL_SECRET: secret,
    INTERNAL_TOKEN: 'the token of the scheduler',
    IDENTITY_GRPC: identity.address,
    RATE_LIMIT_SCALE: '1000',
    ...Object.fromEntries(services.map((name) => [`${name}_URL`, service.url])),
    ...env,
  });
  const log: string[] = [];
  const destination = new Writable({ write: (line, _, done) => done(void log.push(String(line))) });
  const store = config.REDIS_URL === undefined ? { store: stack.use(memoryStore()) } : {};
  const logger = createLogger({ name: 'gateway', destination });
  const { url } = stack.use(await start(config, logger, { ...store, ...overrides }));
  return {
    url,
    identity,
    service,
    principals,
    log,
    get: (path, question) => ask(url, 'GET', `/api/acsp/${path}`, question),
    post: (path, body, question) =>
      ask(url, 'POST', `/api/acsp/${path}`, {
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...question,
      }),
    [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose](),
  };
}

export const bearer = (key: string): Question => ({ headers: { authorization: `Bearer ${key}` } });
