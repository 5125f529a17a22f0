import module from 'node:module'

// Started by `hook.sh` with CLIENT EVENT SPACE PID. A program of its own, because parsing a command line takes longer
// than most hooks do.
const { enableCompileCache } = module as { enableCompileCache?: () => unknown }
enableCompileCache?.()

const [, program = '', client = '', event = '', space = '', pid = ''] = process.argv
const argsFor = (other: string) => [program, client, other, space, pid]
void import('./run.ts')
  .then(({ runHook }) => runHook({ client, event, space, pid: Number(pid), argsFor }))
  // Nothing that is still running may hold the client up.
  .then((code) => process.exit(code))
