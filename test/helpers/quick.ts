/**
 * `npm run test:quick`: the rooms that are tested in one process, and one story for each way in from outside. No
 * browser, no terminal, no real agent clients, no campaigns.
 */
export const quickFiles = [
  'test/*.test.ts',
  ...['model', 'conversation', 'command', 'space', 'query'].map((room) => `test/${room}/**/*.test.ts`),
  ...['codec', 'contract', 'reader', 'rotation', 'damage', 'lock'].map(
    (file) => `test/journal/${file}.test.ts`,
  ),
  'test/agent/{agent,lead,limits,pending}.test.ts',
  'test/life/{receipts,roster}.test.ts',
  'test/property/found.test.ts',
  'test/cli/story.test.ts',
  'test/hub/{guard,requests,look}.test.ts',
  'test/remote/connection.test.ts',
  'test/mcp/stdio.test.ts',
  'test/clients/hook/client-process.test.ts',
  'test/clients/setup/later.test.ts',
  'test/tmux/{screen,words}.test.ts',
]
