import { CodeCache } from '../../base/code-cache.ts'

// Started by `hook.sh` with CLIENT EVENT SPACE PID. A program of its own, because parsing a command line takes longer
// than most hooks do.
const [, script = '', client = '', event = '', space = '', pid = ''] = process.argv
const cache = new CodeCache({ require, import: (name) => import(name) })
cache.runs(event)
const { runHook } = cache.load<typeof import('./run.ts')>(`${import.meta.dirname}/run-hook.cjs`)
const argsFor = (other: string) => [script, client, other, space, pid]
// To show mail takes more than to find none.
const onSaid = () => cache.runs(`${event}-said`)
void runHook({ client, event, space, pid: Number(pid), argsFor, onSaid })
  // Nothing that is still running may hold the client up.
  .then((code) => process.exit(code))
