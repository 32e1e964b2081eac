import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** A POST through the proxy, in a process in which a deprecated call of Node throws. */
const script = (proxy: string) => `
  import { createServer } from 'node:http';
  import { createProxyMiddleware } from ${JSON.stringify(proxy)};
  const serve = (handle) => new Promise((resolve) => {
    const server = createServer(handle).listen(0, '127.0.0.1', () => resolve(server));
  });
  const service = await serve((_, response) => response.end('served'));
  const forward = (answer, _, response) => answer.pipe(response);
  const middleware = createProxyMiddleware({
    target: { protocol: 'http:', hostname: '127.0.0.1', port: service.address().port },
    selfHandleResponse: true,
    ejectPlugins: true,
    plugins: [(proxy) => proxy.on('proxyRes', forward)],
  });
  const door = await serve((request, response) => middleware(request, response));
  const answer = await fetch('http://127.0.0.1:' + door.address().port, { method: 'POST', body: '{}' });
  console.log(await answer.text());
  process.exit(0);
`;

test('the proxy calls nothing that is deprecated', async () => {
  const proxy = pathToFileURL(createRequire(import.meta.url).resolve('http-proxy-middleware')).href;
  const flags = ['--throw-deprecation', '--pending-deprecation', '--input-type=module', '--eval', script(proxy)];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, flags, { env });
  expect({ stdout, stderr }).toEqual({ stdout: 'served\n', stderr: '' });
});
