const form = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** An ISO 8601 date or date-time; one without an offset is UTC. Undefined when it is malformed or names a day that does not exist. */
export function parseIsoTime(text: string): Date | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, , , offset] = match;
  const daysInMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (Number(day) > daysInMonth) return undefined;
  const time = new Date(hour === undefined || offset !== undefined ? text : `${text}Z`);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
