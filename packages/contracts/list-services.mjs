import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// After buf: one list of every service of the contracts, so that the gateway and the tests know a new one without being told.

const proto = fileURLToPath(new URL('../../proto/acsp', import.meta.url));
const out = fileURLToPath(new URL('./src/generated/acsp/services_pb.ts', import.meta.url));

const found = readdirSync(proto, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.proto'))
  .sort()
  .flatMap((file) =>
    [...readFileSync(join(proto, file), 'utf8').matchAll(/^service (\w+)/gm)].map(([, name]) => [name, file]),
  );
const imports = found.map(
  ([name, file]) => `import { ${name} } from './${file.replaceAll('\\', '/').replace('.proto', '_pb.js')}';`,
);
writeFileSync(
  out,
  `${imports.join('\n')}\n\nexport const services = [${found.map(([name]) => name).join(', ')}] as const;\n`,
);
