import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Claims a directory for this process. Every claim is a file named <pid>-<start time>, so a claim left by a dead process is
 * recognised although its pid has been given to another one, and a claim is never half written.
 * Each contender announces itself before it looks around: two at once may both step back, but never both go on.
 */
export function claim(directory) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const mine = `${process.pid}-${processStart(process.pid)}`;
  try {
    writeFileSync(join(directory, mine), '', { flag: 'wx' });
  } catch (error) {
    if (error.code === 'EEXIST') return { holder: process.pid };
    throw error;
  }
  const release = () => rmSync(join(directory, mine), { force: true });
  for (const other of readdirSync(directory)) {
    if (other === mine) continue;
    const [pid, start] = other.split('-');
    if (isRunning(Number(pid), start)) {
      release();
      return { holder: Number(pid) };
    }
    rmSync(join(directory, other), { force: true });
  }
  return { release };
}

/** Claims as soon as the others are through; `onWait(pid)` is called once when there is somebody to wait for. */
export async function claimWhenFree(directory, { timeoutMs, onWait = () => {} }) {
  const deadline = Date.now() + timeoutMs;
  for (let first = true; ; first = false) {
    const result = claim(directory);
    if (result.release || Date.now() > deadline) return result;
    if (first) onWait(result.holder);
    // The backoff is random: two contenders that stepped back from each other would otherwise collide again.
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 130));
  }
}

/** True when the process that had this pid and start time still runs. A zombie does not. */
export function isRunning(pid, start) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  const now = processStart(pid);
  return now === undefined || start === undefined ? now !== 'zombie' : now === start;
}

/** The start time of a process, in the system's own notation; undefined when the system does not tell. */
export function processStart(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command, in parentheses, may hold spaces and parentheses itself: the fields are counted from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'zombie' : fields[19];
  } catch {
    const started = ps('lstart=', pid);
    return started && String(Date.parse(started));
  }
}

/** The command line of a process, or undefined when there is none. */
export function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() || undefined;
  } catch {
    return ps('command=', pid);
  }
}

// Systems without /proc (macOS).
function ps(field, pid) {
  if (process.platform === 'linux') return undefined;
  try {
    const options = {
      encoding: 'utf8',
      env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    };
    return execFileSync('ps', ['-ww', '-o', field, '-p', String(pid)], options).trim() || undefined;
  } catch {
    return undefined;
  }
}
