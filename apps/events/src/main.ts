import { run } from '@acsp/service';
import { service } from './service.js';

run(service);
