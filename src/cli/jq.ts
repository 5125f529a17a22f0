import { MailboxError } from '../base/errors.ts'

/** What a jq filter selects from a JSON object. Texts are printed without quotes, ready for a shell. */
export function filterJson(json: string, filter: string): string {
  // Loaded when it is asked for: it takes longer than some commands.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const { status, stdout, stderr, error } = spawnSync('jq', ['-r', filter], {
    ...{ input: json, encoding: 'utf8', maxBuffer: 1_073_741_824 },
  })
  // One that refuses the filter ends before it has read everything.
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
    throw new MailboxError('not_found', 'the program jq is not installed', {
      cause: error,
      hint: 'install it, or use --json with another program',
    })
  if (status === 0) return stdout
  throw new MailboxError('invalid', `jq: ${stderr.trim().split('\n')[0] ?? ''}`, {
    hint: 'see the JSON with --json, and write the filter as in jq: .messages[].id',
  })
}
