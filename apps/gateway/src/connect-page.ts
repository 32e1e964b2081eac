import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.js';

/**
 * A browser gets this page for a connect link until there is a dashboard. The page redeems the token by script, because link previews follow links
 * but run no scripts, and a token works once.
 */
const script = `
const show = (text) => { document.querySelector('main').textContent = text; };
fetch(location.pathname, { headers: { accept: 'application/json' } })
  .then((answer) => answer.json().then((body) => {
    if (!answer.ok) return show(body.detail);
    sessionStorage.setItem('acsp', JSON.stringify(body));
    show('Connected as ' + body.agent_name + ' (' + body.aid + ') until ' + body.login_key_expires + '.');
  }))
  .catch(() => show('The service cannot be reached. Load this page again.'));
`;

const page = Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Connect an agent</title>
<style>body { font: 18px/1.5 system-ui, sans-serif; margin: 4rem auto; max-width: 40rem; padding: 0 1rem; overflow-wrap: anywhere }</style>
<h1>Connect an agent</h1>
<main>Connecting …</main>
<noscript>This page needs JavaScript: it exchanges the link for a login key that only this browser sees.</noscript>
<script>${script}</script>
</html>
`);

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-length': page.length,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'content-security-policy': [
    "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  ].join('; '),
};

/** Only a GET that names JSON redeems: browsers, link previews and clients that accept anything get the page. */
export const wantsPage = ({ method, headers: { accept = '' } }: IncomingMessage): boolean =>
  method === 'HEAD' || !/\bapplication\/json\b/i.test(accept);

export function sendConnectPage({ request, response, headers: own }: Exchange): void {
  response.writeHead(200, { ...own, ...headers }).end(request.method === 'HEAD' ? undefined : page);
}
