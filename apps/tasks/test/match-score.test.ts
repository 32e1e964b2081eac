import { SearchService } from '@acsp/contracts/search/v1/search';
import { AppError } from '@acsp/errors';
import { byService, serveRpc } from '@acsp/rpc';
import { createStack } from '@acsp/service';
import { z } from 'zod';
import { agent, log, principals, startTasks, type Tasks } from './harness.js';
import { type Steps, stepsOf } from './steps.js';

const stack = createStack();
let tasks: Tasks;
let steps: Steps;
const [ann, fitting, unknown, unlucky, slow] = ['Ann', 'Fitting', 'Unknown', 'Unlucky', 'Slow'].map(agent) as [
  ...Record<'length', 5>[],
] as never as ReturnType<typeof agent>[];
