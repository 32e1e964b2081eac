export { cleanText } from './clean-text.js';
export { isBlank } from './is-blank.js';
export { parseIsoTime } from './iso-time.js';
export { codePointLength, jsonFault, textFault } from './json-limits.js';
export { nameFault } from './name-fault.js';
export { noticeName } from './notice-name.js';
