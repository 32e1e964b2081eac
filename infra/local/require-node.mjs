/** Ends with one sentence on a Node that is too old. It has to be parsed by such a Node, so it and who imports it first keep to ES2015. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  process.stderr.write(
    `This needs Node.js 20.19 or later, and this is ${process.versions.node}: see https://nodejs.org.\n`,
  );
  process.exit(1);
}
