import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startGateway } from './gateway.js';
import { startService } from './service.js';

// One process of the baseline: a service (DATABASE_URL), a gateway before one (TARGET), or, like the standalone, both in one (DATABASE_URL and GATEWAY).

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const { DATABASE_URL, TARGET, GATEWAY } = process.env;

const service = DATABASE_URL === undefined ? undefined : urlOf(await startService(DATABASE_URL));
const gateway = TARGET ?? (GATEWAY === undefined ? undefined : service);
process.send?.(gateway === undefined ? service : urlOf(await startGateway(gateway)));
process.on('disconnect', () => process.exit(0));
