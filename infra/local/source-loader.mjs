import { register } from 'node:module';

// Lets `node --conditions=source --import <this file>` run our TypeScript as it is, on every Node we support: Node 20 can't by itself.
register('./source-hooks.mjs', import.meta.url);
