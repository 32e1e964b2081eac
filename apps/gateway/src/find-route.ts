import type { ServerResponse } from 'node:http';
import { AppError } from '@acsp/errors';
import { routeTable } from '@acsp/http';
import { checkBodyHeaders, fieldsOf } from './body.js';
import type { Exchange } from './exchange.js';
import type { Deprecated, Route } from './route.js';
import { deprecated, routes } from './routes.js';

const match = routeTable<Route | Deprecated>([...routes, ...deprecated]);

/** The row of the request's operation; where several share a path, the fields tell which. Throws 404, 405, 410, 413 and 415. */
export async function findRoute(exchange: Exchange): Promise<Route> {
  const { request, response } = exchange;
  const found = match(request.method ?? '', pathOf(exchange));
  if (!('rows' in found)) throw noRoute(found.allow, response);
  const [first] = found.rows as [Route | Deprecated];
  exchange.pattern = first.http;
  if ('movedTo' in first) throw new AppError('DEPRECATED', { extra: { migration: { path: first.movedTo } } });
  if (request.method === 'POST') checkBodyHeaders(request, first.maxBodyBytes);
  if (found.rows.length === 1) return first;
  const fields = await fieldsOf(exchange, first.maxBodyBytes);
  const forms = found.rows as readonly Route[];
  return forms.find(({ when }) => when === undefined || when(fields)) ?? first;
}

/** 404, or 405 with Allow. */
export function noRoute(allow: readonly string[], response: ServerResponse): AppError {
  if (allow.length === 0) return new AppError('NOT_FOUND');
  response.setHeader('Allow', [...allow, ...(allow.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', '));
  return new AppError('METHOD_NOT_ALLOWED');
}

/** The methods of the request's path; none when there is no such path. */
export function allowedMethods(exchange: Exchange): readonly string[] {
  const found = match('OPTIONS', pathOf(exchange));
  return 'allow' in found ? found.allow : [];
}

function pathOf({ target }: Exchange): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}
