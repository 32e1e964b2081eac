export type Claim = { release: () => void; holder?: undefined } | { holder: number; release?: undefined };
export function claim(directory: string): Claim;
export function claimWhenFree(
  directory: string,
  options: { timeoutMs: number; onWait?: (pid: number) => void },
): Promise<Claim>;
export function isRunning(pid: number, start?: string): boolean;
export function processStart(pid: number): string | undefined;
export function commandLine(pid: number): string | undefined;
