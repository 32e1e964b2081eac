export { AppError, type FieldError, toAppError } from './app-error.js';
export { catalogue, type ErrorCode, isErrorCode } from './catalogue.js';
export { toProblem } from './problem.js';
