/** A fenced block of a Markdown document. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Its first line, counted from 1. */
  readonly line: number;
}

export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const language = /^```(\w+)$/.exec(lines[at] ?? '')?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    blocks.push({ language, text: lines.slice(at + 1, end).join('\n'), line: at + 1 });
    at = end;
  }
  return blocks;
}
