import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: './test/helpers/bring-tools.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: more workers than that only make the process tests slower.
    maxWorkers: 2,
    reporters: ['default', './test/helpers/tally-reporter.ts'],
  },
})
