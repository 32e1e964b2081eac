import { Credential } from '@acsp/contracts/edge/v1/edge';
import type { Route } from '@acsp/operation';
import { movedPaths, routes } from './surface.js';

// `pnpm routes`: the whole public surface as a Markdown table, from the options in proto/.

const credentials = ({ by }: Route) => by.map((credential) => Credential[credential].toLowerCase()).join(', ');

const row = (route: Route) => [
  `${route.method} ${route.path}`,
  route.rpc.split('.').at(-1) ?? '',
  route.given.length === 0 ? '' : `with ${route.given.join(' or ')}`,
  credentials(route),
  route.limit ?? '',
  String(route.status),
];

const head = ['path', 'rpc', 'form', 'by', 'limit', 'status'];
const moved = movedPaths.map(({ method, path, to }) => [`${method} ${path}`, `gone: ${to}`, '', '', '', '410']);
const rows = [head, head.map(() => '---'), ...routes.map(row), ...moved];
process.stdout.write(`${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
