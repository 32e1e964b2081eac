/** One run for the whole repository: every package's tests, from TypeScript source, on real servers (see infra/local/test.mjs). */
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  globalSetup: '<rootDir>/packages/testkit/jest/setup.mjs',
  globalTeardown: '<rootDir>/packages/testkit/jest/teardown.mjs',
  maxWorkers: 2,
  // Node keeps the modules of every test file for the life of its process (--experimental-vm-modules), 40 MB each.
  workerIdleMemoryLimit: '1GB',
  roots: ['<rootDir>/apps', '<rootDir>/packages', '<rootDir>/infra/local'],
  testMatch: ['**/*.test.ts'],
  modulePathIgnorePatterns: ['/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }],
  },
  testTimeout: 30_000,
};
