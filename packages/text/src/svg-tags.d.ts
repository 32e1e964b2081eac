declare module 'svg-tags' {
  const names: readonly string[];
  export = names;
}
