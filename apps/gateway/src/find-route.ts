import type { ServerResponse } from 'node:http';
import { AppError } from '@acsp/errors';
import { pathOf } from '@acsp/http';
import { chooseForm, type MovedPath, type Route, routeTable } from '@acsp/operation';
import { checkBodyHeaders, fieldsOf } from './body.js';
import type { Exchange } from './exchange.js';
import { movedPaths, routes } from './surface.js';

type Forms = readonly [Route, ...Route[]];

const match = routeTable<Route | MovedPath>([...routes, ...movedPaths]);

/** Every form of the request's method and path. Throws NOT_FOUND, METHOD_NOT_ALLOWED and DEPRECATED. */
export function findForms(exchange: Exchange): Forms {
  const found = match(exchange.request.method ?? '', pathOf(exchange.target));
  if (!('rows' in found)) throw noRoute(found.allow, exchange.response);
  const [first] = found.rows as readonly [Route | MovedPath];
  exchange.pattern = `${first.method} ${first.path}`;
  if ('to' in first) throw new AppError('DEPRECATED', { extra: { migration: { path: first.to } } });
  return found.rows as unknown as Forms;
}

/** The form that the request's fields choose; a body is read only where there are several. Throws 413, 415 and INVALID_JSON. */
export async function findRoute(exchange: Exchange, forms: Forms): Promise<Route> {
  const [first] = forms;
  if (first.method === 'POST') checkBodyHeaders(exchange.request, first.maxBodyBytes);
  return forms.length === 1 ? first : chooseForm(forms, await fieldsOf(exchange, first.maxBodyBytes));
}

/** 404, or 405 with Allow. */
export function noRoute(allow: readonly string[], response: ServerResponse): AppError {
  if (allow.length === 0) return new AppError('NOT_FOUND');
  response.setHeader('Allow', [...allow, ...(allow.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', '));
  return new AppError('METHOD_NOT_ALLOWED');
}

/** Those of the server as a whole. */
export const allMethods = 'GET, HEAD, POST, OPTIONS';

/** The methods of the request's path; none when there is no such path. */
export function allowedMethods({ target }: Exchange): readonly string[] {
  const found = match('OPTIONS', pathOf(target));
  return 'allow' in found ? found.allow : [];
}
