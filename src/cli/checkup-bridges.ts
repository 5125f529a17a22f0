import { describeProblem } from '../bridges/problem.ts'
import type { Finding } from './checkup.ts'
import { describeLag, describeRunner } from './format/bridge.ts'

/** How the bridges of a space are; nothing while it has none. */
export async function bridgeFindings(dir: string): Promise<Finding[]> {
  const { rememberedBridges, runnerOf, statusOf } = await import('../bridges/remembered.ts')
  const { existsSync } = await import('node:fs')
  return rememberedBridges(dir)
    .filter(({ runs }) => runs)
    .map(({ id, format, path }) => {
      const check = 'bridge'
      if (!existsSync(path))
        return {
          ...{ check, state: 'fail' as const, found: `${format}: there is no folder ${path}` },
          next: `put it back, or end the bridge: mailbox bridge stop ${id}`,
        }
      const status = statusOf(dir, id)
      const runner = runnerOf(dir, id)
      if (runner === undefined)
        return {
          ...{ check, state: 'warn' as const, found: `${format} ${path} is not running${whyNot(status)}` },
          next: `start it: mailbox serve, or mailbox bridge ${format} ${path}`,
        }
      if (runner.silentForMs !== undefined)
        return {
          ...{
            check,
            state: 'warn' as const,
            found: `${format} ${path} is held by ${describeRunner(runner)}`,
          },
          next: 'let the process go on, or end it: another one takes the bridge up',
        }
      const last = status?.problems.at(-1)
      if (last !== undefined)
        return {
          ...{ check, state: 'warn' as const, found: `${format} ${path}: ${describeProblem(last)}` },
          next: 'correct the file, or remove it',
        }
      const lag = describeLag(status?.lag ?? {})
      const found = `${format} ${path} is running${lag && `, lag ${lag}`}, in ${describeRunner(runner)}`
      return { check, state: 'ok' as const, found }
    })
}

const whyNot = ({ error }: { error?: string } = {}): string =>
  error === undefined || error === 'not running' ? '' : `: ${error}`
