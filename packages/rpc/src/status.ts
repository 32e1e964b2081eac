import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema, StatusSchema } from '@acsp/contracts/google/rpc/status';
import { AppError, catalogue, isErrorCode } from '@acsp/errors';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type Any, anyPack, anyUnpack, durationFromMs, durationMs } from '@bufbuild/protobuf/wkt';
import { Metadata, type StatusObject, status } from '@grpc/grpc-js';

const trailer = 'grpc-status-details-bin';
const domain = 'acsp';

/** An error as a gRPC status with google.rpc details: the code as ErrorInfo.reason, refused fields as BadRequest, a delay as RetryInfo. */
export function toStatus(error: AppError): Partial<StatusObject> {
  const code = catalogue[error.code].grpc;
  const details: Any[] = [anyPack(ErrorInfoSchema, create(ErrorInfoSchema, { reason: error.code, domain }))];
  if (error.fields.length > 0) {
    const fieldViolations = error.fields.map(({ field, message }) => ({ field, description: message }));
    details.push(anyPack(BadRequestSchema, create(BadRequestSchema, { fieldViolations })));
  }
  if (error.retryAfterSeconds !== undefined) {
    const retryDelay = durationFromMs(error.retryAfterSeconds * 1000);
    details.push(anyPack(RetryInfoSchema, create(RetryInfoSchema, { retryDelay })));
  }
  const metadata = new Metadata();
  const body = toBinary(StatusSchema, create(StatusSchema, { code, message: error.message, details }));
  metadata.set(trailer, Buffer.from(body));
  return { code, details: error.message, metadata };
}

/** The error that the other side threw. One without our details is the transport's: a peer that is away or late is SERVICE_UNAVAILABLE. */
export function fromStatus({ code, details: detail, metadata }: StatusObject): AppError {
  const cause = Object.assign(new Error(detail), { code });
  const [body] = metadata.get(trailer);
  const details = Buffer.isBuffer(body) ? fromBinary(StatusSchema, body).details : [];
  const find = <T>(unpack: (any: Any) => T | undefined) => details.map(unpack).find((found) => found !== undefined);
  const reason = find((any) => anyUnpack(any, ErrorInfoSchema))?.reason ?? '';
  if (!isErrorCode(reason))
    return new AppError(isTransport(code) ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR', { cause });
  const violations = find((any) => anyUnpack(any, BadRequestSchema))?.fieldViolations ?? [];
  const retryDelay = find((any) => anyUnpack(any, RetryInfoSchema))?.retryDelay;
  return new AppError(reason, {
    detail,
    fields: violations.map(({ field, description }) => ({ field, message: description })),
    retryAfterSeconds: retryDelay && durationMs(retryDelay) / 1000,
    cause,
  });
}

/** A peer that lacks an rpc is one of an earlier version, which is being replaced. */
const transportCodes = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED, status.UNIMPLEMENTED];
const isTransport = (code: status) => transportCodes.includes(code);
