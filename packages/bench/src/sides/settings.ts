/** Shared by the services of one run, and by the worker that calls tasks directly. */
export const principalSecret = 'known to everybody and for the bench alone';

/** Every limit counts each request, and none is ever reached. */
export const limitScale = '1000000';
