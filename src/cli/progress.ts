import type { Cli } from './cli.ts'
import { widthOf } from './output.ts'

export interface Progress {
  report(done: number, total?: number): void
  end(): void
}

/** Short tasks show no progress. */
const silentMs = 1_000
const barEveryMs = 100
const lineEveryMs = 5_000
const barCells = 24

/**
 * Progress on standard error: a bar on a terminal, otherwise a line now and then. It draws only when it is
 * called, because the work it reports on blocks timers.
 */
export function createProgress({ quiet }: Cli, label: string): Progress {
  const { stderr } = process
  const started = performance.now()
  let drawn = started + silentMs - (stderr.isTTY ? barEveryMs : lineEveryMs)
  let open = false
  return {
    report(done, total) {
      const now = performance.now()
      if (quiet || now - started < silentMs || now - drawn < (stderr.isTTY ? barEveryMs : lineEveryMs)) return
      drawn = now
      if (stderr.isTTY) {
        open = true
        stderr.write(`\r\x1b[2K${describe(label, done, total).slice(0, widthOf(stderr) - 1)}`)
      } else {
        stderr.write(`${describe(label, done, total)}\n`)
      }
    },
    end() {
      if (open) stderr.write('\r\x1b[2K')
      open = false
    },
  }
}

function describe(label: string, done: number, total: number | undefined): string {
  if (total === undefined || total === 0) return `${label}: ${count(done)} done`
  const share = Math.min(1, done / total)
  const cells = Math.round(share * barCells)
  return `${label} [${'#'.repeat(cells)}${'-'.repeat(barCells - cells)}] ${Math.floor(share * 100)} %`
}

/** `300,000`. */
// `toLocaleString` would load locale tables, which takes longer than all else a short verb does.
export const count = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ',')
