import { services } from '@acsp/contracts/services';
import { type MovedPath, movedPathsOf, type Route, surfaceOf } from '@acsp/operation';

/** Every public path, from the options in proto/. */
export const routes: readonly Route[] = surfaceOf(services);

/** Paths that are no more (interface, section 7.1). */
export const movedPaths: readonly MovedPath[] = movedPathsOf(services);
