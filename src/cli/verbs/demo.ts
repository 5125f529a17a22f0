import { randomInt } from 'node:crypto'
import type { Command } from 'commander'
import { openDemoSpace, playDemo, removeDemoSpace } from '../../demo/run.ts'
import { defaultAgents, maxAgents, minAgents } from '../../demo/team.ts'
import type { MessageEntry } from '../../model/entry.ts'
import { toPrintableLine, toSafeJson } from '../../model/text.ts'
import type { DiskSpace } from '../../space/space.ts'
import { action, type Cli, shellWord } from '../cli.ts'
import { subjectIn } from '../format/foreign.ts'
import { paintPriority } from '../format/message.ts'
import { truncate } from '../format/table.ts'
import { clock } from '../format/time.ts'
import { examples } from '../help.ts'
import { interruptSignal } from '../interrupt.ts'
import { numberIn, whole } from '../options.ts'
import { write } from '../output.ts'
import { count } from '../progress.ts'
import { consoleDir } from './serve.ts'

declare const __VERSION__: string

interface DemoFlags {
  speed: number
  agents: number
  seed?: number
  minutes?: number
  port?: number
  keep?: boolean
  tour?: boolean
}

export function demo(command: Command): void {
  command
    .description(
      'Run a team of mock agents through a working day in a temporary space, and print the address of its console. ' +
        'What you approve, answer or send there changes what happens next. Your own spaces are not touched, and the ' +
        'temporary one is removed at the end. Press Ctrl-C to stop.',
    )
    .option('--speed <n>', 'how fast the day passes, 1 to 20; at 1 a day takes two hours', numberIn(1, 20), 5)
    .option('--seed <n>', 'replay the story with this seed (default: a random one)', whole(0))
    .option(
      '--agents <n>',
      `number of mock agents, ${minAgents} to ${maxAgents}`,
      whole(minAgents, maxAgents),
      defaultAgents,
    )
    .option('--minutes <n>', 'stop after this many minutes', numberIn(0, 10_000))
    .option('--port <n>', 'port of the console (default: 7337, or the next free one)', whole(0))
    .option('--keep', 'keep the space at the end')
    .option('--tour', 'explain what to look at, one step after another (default on a terminal)')
    .option('--no-tour', 'print every message instead')
    .addHelpText(
      'after',
      examples(
        'mailbox demo',
        'mailbox demo --no-tour --speed 20 --seed 7',
        'mailbox demo --agents 30 --keep',
      ),
    )
  action(command, async (cli, flags: DemoFlags) => {
    const {
      speed,
      agents,
      seed = randomInt(1_000_000),
      minutes,
      port,
      keep = false,
      tour = isAtTerminal(cli),
    } = flags
    const { startHub } = await import('../../hub/hub.ts')
    const { createLog } = await import('../../hub/log.ts')
    const interrupted = interruptSignal()
    // Closing the terminal must not leave the space behind.
    process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'))
    const log = createLog()
    log.level = 'error'
    await using space = await openDemoSpace({ keep })
    // On exit, because a closed pipe or a second Ctrl-C ends the process without running the code below.
    if (!keep) process.once('exit', () => removeDemoSpace(space))
    const hub = await startHub({ space, port, log, version: __VERSION__, consoleDir: consoleDir() })
    try {
      const { url, token } = hub
      cli.answer({ url, token, open: hub.link, space: space.dir, seed, speed, agents }, () =>
        [
          `open    ${hub.link}`,
          `space   ${space.dir} (${keep ? 'kept' : 'removed at the end'})`,
          `story   ${agents} agents at ${speed}x, seed ${seed}`,
          'stop    Ctrl-C',
        ].join('\n'),
      )
      const over = new AbortController()
      const signal = AbortSignal.any([interrupted, over.signal])
      if (minutes !== undefined) setTimeout(() => over.abort(), minutes * 60_000)
      const told = tour && !cli.json ? guided(cli, space, url, signal) : tell(cli, space, signal)
      const parts = [playDemo(space, { speed, seed, agents }, signal), told]
      // Whichever part ends first, normally or by an error, stops the other; wait for both.
      const ended = await Promise.allSettled(parts.map((part) => part.finally(() => over.abort())))
      for (const part of ended) if (part.status === 'rejected') throw part.reason
    } finally {
      await hub.stop()
    }
    const messages = (await space.stats()).all.sent
    cli.confirm({ ended: interrupted.aborted ? 'interrupted' : 'time', messages, kept: keep }, () =>
      keep
        ? `${count(messages)} messages; the space was kept: ${cli.command(`serve --space ${shellWord(space.dir)}`)}`
        : `${count(messages)} messages; the space was removed`,
    )
  })
}

const isAtTerminal = ({ json, quiet }: Cli): boolean =>
  !json && !quiet && process.stdin.isTTY && process.stdout.isTTY

/** Explains the demo, and then prints what goes on. */
async function guided(cli: Cli, space: DiskSpace, url: string, signal: AbortSignal): Promise<void> {
  const { guide } = await import('../tour.ts')
  await guide(cli, space, url, signal)
  if (!signal.aborted) await tell(cli, space, signal, await space.lastSeq())
}

/** Prints messages as the agents send them. */
async function tell(cli: Cli, space: DiskSpace, signal: AbortSignal, after = 0): Promise<void> {
  for await (const { entry } of space.follow({ after, signal })) {
    if (entry.kind !== 'message' || cli.quiet) continue
    const message = { seq: entry.seq, ...entry.message }
    await write(`${cli.json ? toSafeJson({ message }) : line(cli, entry)}\n`)
  }
}

function line(cli: Cli, { at, message }: MessageEntry): string {
  const { colors, width } = cli
  const time = clock(at)
  const text = `${message.from} → ${message.to.join(', ')}: ${subjectIn(cli, message)} (${message.type})`
  const paint = paintPriority(colors, message.priority)
  return `${colors.dim(time)}  ${paint(truncate(toPrintableLine(text), width - time.length - 2))}`
}
