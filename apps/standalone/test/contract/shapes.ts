// The parts of answers, for comparison by shape.

const matching = (form: RegExp) => expect.stringMatching(form);

export const uuid = matching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
export const aid = matching(/^[0-9a-f]{50}$/);
export const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const loginKey = matching(/^nk_[\w-]{43}$/);
export const publicKey = matching(/^[0-9a-f]{64}$/);
export const privateKey = matching(/^[0-9a-f]{128}$/);
export const text = matching(/./);
export const number = expect.any(Number);
