import module from 'node:module'

// What `hook.sh` starts: CLIENT EVENT SPACE PID. Beside the command line, because parsing words takes longer
// than most hooks do.
const { enableCompileCache } = module as { enableCompileCache?: () => unknown }
enableCompileCache?.()

const [, program = '', client = '', event = '', space = '', pid = ''] = process.argv
const again = (other: string) => [program, client, other, space, pid]
void import('./run.ts')
  .then(({ runHook }) => runHook({ client, event, space, pid: Number(pid), again }))
  // Nothing that still runs may hold the client up.
  .then((code) => process.exit(code))
