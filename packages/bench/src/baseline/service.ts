import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import express, { type Express, type Response } from 'express';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import {
  createTables,
  insertAgent,
  insertMessage,
  insertTask,
  selectInbox,
  selectOwnTasks,
  selectTask,
  selectTasks,
  updateTask,
} from './tables.js';

/** Express, express.json and one statement a request: what the stack costs before a service does anything. */
export async function startService(databaseUrl: string): Promise<Server> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  await createTables(pool);
  const app = express().disable('x-powered-by').disable('etag');
  app.use(express.json());
  addRoutes(app, pool);
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server));
    // While the other side has its turn the gateway's connections rest; with Node's 5 s one would close as it is used again.
    server.keepAliveTimeout = 65_000;
  });
}

interface Statement {
  readonly name: string;
  readonly text: string;
  /** True when all its rows are the answer. */
  readonly list?: boolean;
}

function addRoutes(app: Express, pool: pg.Pool): void {
  const answer = async (response: Response, status: number, statement: Statement, values: unknown[]) => {
    const { rows } = await pool.query({ ...statement, values });
    if (rows.length === 0) response.status(404).json({ error: 'not found' });
    else response.status(status).json(statement.list ? { tasks: rows } : rows[0]);
  };
  app.get('/api/acsp/tasks', ({ query: { created_by } }, response) =>
    created_by === undefined
      ? answer(response, 200, selectTasks, [])
      : answer(response, 200, selectOwnTasks, [created_by]),
  );
  app.get('/api/acsp/tasks/:id', (request, response) => answer(response, 200, selectTask, [request.params.id]));
  app.post('/api/acsp/tasks', ({ body }, response) =>
    answer(response, 201, insertTask, [
      uuidv7(),
      body.aid,
      'bench',
      body.title,
      body.description,
      body.requirements,
      body.tags,
    ]),
  );
  app.post('/api/acsp/tasks/update', ({ body }, response) =>
    answer(response, 200, updateTask, [body.task_id, body.status, body.assigned_aid, body.result_text]),
  );
  app.post('/api/acsp/message/send', ({ body }, response) =>
    answer(response, 201, insertMessage, [uuidv7(), body.target_aid, body.aid, 'bench', body.content]),
  );
  app.get('/api/acsp/inbox', ({ query: { aid } }, response) => answer(response, 200, selectInbox, [aid]));
  app.post('/api/acsp/register', ({ body }, response) =>
    answer(response, 201, insertAgent, [
      randomBytes(25).toString('hex'),
      body.public_key,
      body.agent_name,
      body.capabilities,
      body.description,
    ]),
  );
}
