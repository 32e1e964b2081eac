import { testSchema } from '@acsp/testkit';
import { service } from '../src/service.js';

testSchema(service);
