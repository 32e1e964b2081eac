const form = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * An ISO 8601 date or date-time; one without an offset is UTC. Undefined when it is malformed, names a day that does not exist, or lies outside
 * of the years 1 to 9999 in UTC, which is all that google.protobuf.Timestamp and ISO 8601 with four digits can say.
 */
export function parseIsoTime(text: string): Date | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, , , offset] = match;
  const daysInMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (Number(day) > daysInMonth) return undefined;
  const time = new Date(hour === undefined || offset !== undefined ? text : `${text}Z`);
  const utcYear = time.getUTCFullYear();
  return utcYear >= 1 && utcYear <= 9999 ? time : undefined;
}
