// Listens to the URL of a stream with npm's EventSource, which knows nothing but the URL. Prints a line of JSON for each event, and ends with its input.
import { EventSource } from 'eventsource';

const print = (kind, data) => process.stdout.write(`${JSON.stringify({ kind, data })}\n`);

const source = new EventSource(process.argv[2]);
for (const kind of ['connected', 'message', 'closing'])
  source.addEventListener(kind, ({ data }) => print(kind, JSON.parse(data)));
source.addEventListener('error', ({ code }) => {
  // Without a status the stream has ended, and the client comes back by itself.
  if (code !== undefined) print('refused', { status: code });
});
process.stdin.resume().once('end', () => process.exit());
