/** A fixed window: so many calls in each `windowSeconds`, which start with the first call. */
export interface Bucket {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

export const idOf = ({ name, limit, windowSeconds }: Bucket): string => `${name}:${limit}:${windowSeconds}`;

/** The key of a caller's window. */
export const placeOf = (bucket: Bucket, key: string): string => `${idOf(bucket)}:${key}`;
