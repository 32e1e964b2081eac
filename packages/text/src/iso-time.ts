const form =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,18}))?)?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)?)?$/;

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * A time of RFC 3339, or one of the shorter forms of ISO 8601 that name the same: a date alone, no seconds, no offset (then it is UTC), an
 * offset without colon or minutes, a comma before the fraction, `24:00` at the end of a day. A leap second is the second after it, as in POSIX.
 * Undefined when it is malformed, names a day or time of day that does not exist, or lies outside of the years 1 to 9999 in UTC, which is all
 * that google.protobuf.Timestamp and ISO 8601 with four digits can say.
 */
export function parseIsoTime(text: string): Date | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as Parts;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const milliseconds = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const ofDay = ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds;
  const offset = offsetMs(match[9], Number(match[10] ?? 0), Number(match[11] ?? 0));
  if (minute > 59 || second > 60 || ofDay > dayMs + 999 || offset === undefined) return undefined;
  const time = new Date(date.getTime() + ofDay - offset);
  if (second === 60 && time.getTime() % dayMs >= 1000) return undefined;
  if (hour > 23 && ofDay !== dayMs) return undefined;
  const utcYear = time.getUTCFullYear();
  return utcYear >= 1 && utcYear <= 9999 ? time : undefined;
}

type Parts = [year: number, month: number, day: number, hour: number, minute: number, second: number];

function offsetMs(sign: string | undefined, hours: number, minutes: number): number | undefined {
  if (hours > 23 || minutes > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes) * minuteMs;
}
