export { AppError, type AppErrorOptions, type FieldError, toAppError } from './app-error.js';
export { type CatalogueEntry, catalogue, type ErrorCode, isErrorCode } from './catalogue.js';
export { type Problem, toProblem } from './problem.js';
