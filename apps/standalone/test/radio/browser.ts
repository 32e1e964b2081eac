import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The task of the page. */
export interface Setup {
  /** The URL below which everything is. */
  readonly api: string;
  /** Requests that it makes first, one after the other. */
  readonly requests: readonly ({ readonly path: string } & RequestInit)[];
  /** The path of its stream. */
  readonly radio: string;
}

/** The events that the page has seen by now. */
export interface Seen {
  readonly answers: readonly {
    readonly path: string;
    readonly status?: number;
    /** The browser has not let the page have the answer. */
    readonly error?: string;
    /** Those that the browser lets it read. */
    readonly headers: Readonly<Record<string, string>>;
  }[];
  readonly opened: number;
  readonly bodies: readonly string[];
  readonly reasons: readonly string[];
  /** The browser has given the stream up. */
  readonly refused: boolean;
}

export interface Page extends AsyncDisposable {
  seen(): Seen;
}

/** `CHROMIUM`, or a program on the path; undefined where there is none. */
export const chromium: string | undefined = [
  process.env.CHROMIUM ?? [],
  (process.env.PATH ?? '').split(delimiter).flatMap((directory) => {
    return ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(directory, name));
  }),
]
  .flat()
  .find(isProgram);

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const html = new URL('page.html', import.meta.url);

/** A headless Chromium on page.html, which has an origin of its own, and asks for its setup when it is there. */
export async function browse(setup: () => Promise<Setup>): Promise<Page> {
  let seen: Seen = { answers: [], opened: 0, bodies: [], reasons: [], refused: false };
  const answer = async (request: IncomingMessage): Promise<string | Buffer> => {
    if (request.url === '/report') seen = JSON.parse(await text(request));
    if (request.url === '/setup') return JSON.stringify(await setup());
    return request.url === '/' ? readFile(html) : '';
  };
  const server = createServer(async (request, response) => {
    response
      .setHeader('Content-Type', request.url === '/' ? 'text/html' : 'application/json')
      .end(await answer(request));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const profile = await mkdtemp(join(tmpdir(), 'acsp-browser-'));
  const browser = start(profile, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const ended = new Promise((resolve) => browser.once('close', resolve));
  return {
    seen: () => seen,
    async [Symbol.asyncDispose]() {
      browser.kill();
      await ended;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function start(profile: string, url: string): ChildProcess {
  // Its sandbox wants a user other than root.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const flags = ['--headless', ...sandbox, '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  return spawn(chromium ?? 'chromium', [...flags, `--user-data-dir=${profile}`, url], { stdio: 'ignore' });
}
