/** Why a server on this machine cannot be had. The message is one sentence for the person who started it. */
export type LocalServerReason = 'IN_USE' | 'BROKEN' | 'PORT_TAKEN' | 'UNAVAILABLE';

export class LocalServerError extends Error {
  readonly reason: LocalServerReason;

  constructor(reason: LocalServerReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LocalServerError';
    this.reason = reason;
  }
}
