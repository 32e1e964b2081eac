/** Time as a dependency, deadlines on promises, and background work that runs until it is disposed. */
export { type Clock, systemClock } from './clock.js';
export { every } from './every.js';
export { createReport, keepRunning } from './keep-running.js';
export { orAborted, pause } from './pause.js';
export { type Link, type Reconnecting, reconnecting } from './reconnecting.js';
export { createTurns, type Turns, takeTurn } from './turns.js';
export { createWake, type Wake } from './wake.js';
export { within } from './within.js';
