import { z } from 'zod';
import { run } from '../../src/index.js';

const say = (text: string) => process.stderr.write(`${text}\n`);
const forever = new Promise<never>(() => {});
setInterval(() => {}, 1_000);

run({
  name: 'child',
  config: z.object({ GREETING: z.string(), FAULT: z.string().optional() }),
  stopTimeoutMs: 500,
  async start({ config, log, health }) {
    say(config.GREETING);
    switch (config.FAULT) {
      case 'known':
        throw Object.assign(new Error('The migration 0002 failed'), { code: 'P3009' });
      case 'unknown':
        throw new TypeError('x is not a function');
      case 'uncaught':
        setTimeout(() => Promise.reject(new Error('nobody waits for this')));
        break;
      case 'talks':
        setInterval(() => log.info({ text: 'x'.repeat(20_000) }, 'talk'), 1);
        setInterval(() => say('alive'), 50);
    }
    log.info({ ready: (await health.ready()).ready, login_key: 'nk_1' }, 'inside start');
    setTimeout(async () => say(`up ${JSON.stringify(await health.ready())}`));
    const failed = new Promise<Error>((resolve) => {
      if (config.FAULT === 'fails') setTimeout(() => resolve(new Error('the disk is gone')), 50);
    });
    return {
      failed,
      async [Symbol.asyncDispose]() {
        say(`dispose ${(await health.ready()).ready}`);
        if (config.FAULT === 'hangs') await forever;
        if (config.FAULT === 'dispose') throw new Error('pool is gone');
      },
    };
  },
});
