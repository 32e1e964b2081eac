export function fingerprint(root: string): { install: string; build: string };
