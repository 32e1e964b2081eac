/** An event as a stream brought it. */
export interface SeenEvent {
  readonly id: string | undefined;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events freely.
  readonly data: any;
}

export interface EventReader {
  /** The events so far. */
  readonly events: readonly SeenEvent[];
  /** The id of the last event that had one. */
  lastId(): string | undefined;
  /** Resolves with the end of the stream, however it ends. */
  readonly ended: Promise<void>;
}

/** Reads a text/event-stream as its parts come (HTML 9.2). */
export function readEvents(body: AsyncIterable<Uint8Array>): EventReader {
  const events: SeenEvent[] = [];
  const decoder = new TextDecoder();
  const ended = (async () => {
    let text = '';
    try {
      for await (const part of body) {
        const blocks = (text + decoder.decode(part, { stream: true })).split('\n\n');
        text = blocks.pop() ?? '';
        events.push(...blocks.map(parse).filter((event) => event !== undefined));
      }
    } catch {
      // It was cut off.
    }
  })();
  return { events, ended, lastId: () => events.findLast(({ id }) => id !== undefined)?.id };
}

function parse(block: string): SeenEvent | undefined {
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
  return fields.event && { id: fields.id, event: fields.event, data: JSON.parse(fields.data) };
}
