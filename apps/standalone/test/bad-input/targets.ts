import type { Route } from '@acsp/gateway/route';
import { routes } from '@acsp/gateway/routes';
import { parseIsoTime } from '@acsp/http';
import { operations as identity } from '@acsp/identity/routes';
import type { AnyOperation } from '@acsp/rpc';
import { operations as tasks } from '@acsp/tasks/routes';
import { z } from 'zod';
import { type Field, field, formsOf } from './fields.js';
import type { Sample } from './samples.js';

/** One form of one operation that agents can call. */
export interface Target {
  /** As its sample is called. */
  readonly name: string;
  /** `POST /tasks/claim`. */
  readonly http: string;
  readonly operation: AnyOperation;
  readonly fields: readonly Field[];
  /** A change of a task that only those who have to do with it may make. */
  readonly closedToOthers: boolean;
}

export type Proof = 'login_key' | 'login_key_body' | 'signature' | 'none';

const formNames = ['detailed', 'compact'];
const openToOthers = ['listTasks', 'getTask', 'claimTask'];
const table: Readonly<Record<string, AnyOperation>> = { ...identity, ...tasks };

/** Every row of the services' tables that has a public path. */
export const targets: readonly Target[] = Object.entries(table).flatMap(([name, operation]) => {
  if (operation.http === undefined) return [];
  const http = operation.http.replace('/api/acsp', '');
  const closedToOthers = name in tasks && !openToOthers.includes(name);
  const forms = formsOf(operation.input);
  return forms.map((fields, i) => {
    const form = forms.length > 1 ? `${name}, ${formNames[i]}` : name;
    return { name: form, http, operation, fields, closedToOthers };
  });
});

/** Whether another operation of the same path serves the sample once this field is gone. */
export function hasAlternative({ operation }: Target, { fields }: Sample, name: string): boolean {
  const { [name]: _gone, ...rest } = fields;
  return Object.values(table).some(
    (other) => other !== operation && other.http === operation.http && other.when?.(rest),
  );
}

/** The gateway's row for a request with these fields. */
export function routeOf({ operation }: Target, { fields }: Sample): Route {
  const route = routes.find(({ http, when }) => http === operation.http && (when === undefined || when(fields)));
  if (route === undefined) throw new Error(`the gateway has no route ${operation.http}`);
  return route;
}

/** How the request says who it comes from. */
export function proofOf({ by }: Route): Proof {
  if (by.includes('signature')) return 'signature';
  if (by.includes('login_key_body')) return 'login_key_body';
  return by.includes('none') ? 'none' : 'login_key';
}

/** The fields that the gateway itself reads from a request, beside those of the service. */
export function gatewayFields(route: Route): Field[] {
  const text = (name: string, schema: z.ZodType) => field(name, schema, { required: true, json: { type: 'string' } });
  const { rule } = route;
  switch (proofOf(route)) {
    case 'login_key_body':
      return [text('login_key', z.string().regex(/^nk_[\w-]{43}$/))];
    case 'signature':
      return [
        text(
          rule.timeField,
          z.string().refine((value) => parseIsoTime(value) !== undefined),
        ),
        text(rule.signatureField, z.string().regex(/^[0-9a-f]{128}$/)),
        ...(rule.signer === 'holder' ? [text('public_key', z.string().regex(/^[0-9a-f]{64}$/))] : []),
      ];
    default:
      return [];
  }
}
