import { setTimeout as sleep } from 'node:timers/promises'
import { type Stop, tour } from '../demo/tour.ts'
import type { Entry } from '../model/entry.ts'
import type { LocalSpace } from '../space/api.ts'
import type { Cli } from './cli.ts'
import { wrap } from './format/table.ts'
import { write } from './output.ts'

/** How long a stop is shown to somebody who only watches. */
const lookMs = 20_000
/** How long what a stop waits for may take before it is left out. */
const patienceMs = 60_000

/** Shows one stop after another: the next when the person has done what it says, presses Enter, or after a while. */
export async function guide(cli: Cli, space: LocalSpace, url: string, signal: AbortSignal): Promise<void> {
  const seen: Entry[] = []
  const looks = new Set<() => void>()
  const follow = async () => {
    for await (const { entry } of space.follow({ after: 0, signal })) {
      seen.push(entry)
      for (const look of looks) look()
    }
  }
  const next = enterKey(signal)
  const following = follow()
  const until = (test: (entry: Entry) => boolean, from: number, atMostMs: number): Promise<boolean> =>
    new Promise((resolve) => {
      const end = new AbortController()
      const finish = (found: boolean) => {
        looks.delete(look)
        next.delete(skip)
        end.abort()
        resolve(found)
      }
      const look = () => void (seen.slice(from).some(test) && finish(true))
      const skip = () => finish(false)
      looks.add(look)
      next.add(skip)
      sleep(atMostMs, undefined, { signal: AbortSignal.any([end.signal, signal]) }).then(
        () => finish(false),
        () => finish(false),
      )
      look()
    })

  if (process.stdin.isTTY)
    cli.tip('\nA tour of two minutes: open the link, and press Enter for the next step.')
  for (const [at, stop] of tour.entries()) {
    if (signal.aborted) break
    if (stop.isReady !== undefined) await until(stop.isReady, 0, patienceMs)
    const from = seen.length
    if (signal.aborted) break
    await write(`${describe(cli, stop, at, url)}\n`)
    const isDone = await until(stop.isDone ?? (() => false), stop.isReady === undefined ? from : 0, lookMs)
    if (stop.isDone !== undefined && isDone) await write(`   ${cli.colors.green('done')}\n`)
  }
  if (!signal.aborted)
    await write('\nThat was the tour. The team goes on; press Ctrl-C to stop it and remove everything.\n\n')
  next.end()
  await following.catch(() => {})
}

function describe({ colors, width }: Cli, { title, text, path }: Stop, at: number, url: string): string {
  const head = `\n${at + 1}/${tour.length}  ${colors.bold(title)}  ${colors.dim(new URL(path, url).href)}`
  return [head, ...wrap(text, Math.min(width, 80) - 5).map((line) => `     ${line}`)].join('\n')
}

/** What Enter does. */
function enterKey(signal: AbortSignal) {
  const listeners = new Set<() => void>()
  const press = () => {
    for (const listener of [...listeners]) listener()
  }
  const { stdin } = process
  if (stdin.isTTY) stdin.on('data', press)
  signal.addEventListener('abort', press)
  return Object.assign(listeners, {
    end() {
      stdin.off('data', press)
      if (stdin.isTTY) stdin.pause()
    },
  })
}
