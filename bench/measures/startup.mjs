/** 6. What a short-lived process costs: the price of asking from a hook or a prompt. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Child } from '../lib/child.mjs'
import { duration, number, table, times } from '../lib/format.mjs'
import { loadLibrary } from '../lib/library.mjs'
import { scratchDir } from '../lib/scratch.mjs'
import { which } from '../lib/servers.mjs'
import { median, quantile } from '../lib/stats.mjs'
import { barChart } from '../lib/svg.mjs'

export const name = 'startup'
export const title = 'Start-up'

export const steps = ({ times: { starts } }) => starts

/** bash tells the CPU time of a child to the millisecond; Node does not tell it at all. */
const bash = which('bash')
const timed =
  'TIMEFORMAT="%3R %3U %3S"; n=$1; shift; { time for ((i = 0; i < n; i++)); do "$@" <"$BENCH_INPUT" >/dev/null 2>&1 || exit 1; done; } 2>&1'
/** What takes no longer than the clock can tell is run so often at a time. */
const quickRuns = 20

export async function run(ctx) {
  const { openSpace } = await loadLibrary()
  const dir = scratchDir('startup')
  // This process is blocked while it measures: it must not become the desk of its space.
  process.env['MAILBOX_DESK'] = 'off'
  const space = await openSpace({ dir })
  const bo = await space.mailbox('bo')
  await space.mailbox('ada')
  // A history, as there would be one.
  await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      bo.send({ to: i % 2 ? 'bo' : 'eve', subject: 'earlier', body: 'mail', hold: true }),
    ),
  )
  const mail = () => bo.send({ to: 'ada', subject: 'Plan', body: 'hi' })

  const cli = [process.execPath, ctx.library.cli, '--as', 'ada']
  const env = { ...process.env, MAILBOX_SPACE: dir, BENCH_INPUT: '/dev/null', MAILBOX_DESK: '' }
  const hook = await hookStage(ctx.library.dir, space)
  delete process.env['MAILBOX_DESK']
  const busy = await deskStage(ctx.library, scratchDir('startup-desk'))
  const commands = [
    { label: 'node -e 0', args: [process.execPath, '-e', '0'] },
    { label: 'mailbox --version', args: [process.execPath, ctx.library.cli, '--version'] },
    { label: 'mailbox count', args: [...cli, 'count'] },
    { label: 'mailbox check, no mail', args: [...cli, 'check'] },
    { label: 'mailbox check, one mail', args: [...cli, 'check'], before: mail },
    { label: 'mailbox send', args: [...cli, 'send', 'bo', '--body', 'hi'] },
  ]
  const missing = cliMissing(cli, env)
  if (missing !== undefined) ctx.skip('start-up of the command line', missing)
  if (bash === undefined) ctx.skip('start-up of the hook', 'there is no bash to time it with')
  else commands.push(...hook.commands, ...busy.commands)
  const runs = commands
    .filter(({ label }) => missing === undefined || label === 'node -e 0')
    .map((command) => ({ ...command, wall: [], cpu: [] }))
  for (let round = -1; round < ctx.times.starts; round++) {
    if (round >= 0) ctx.progress.step(`run ${round + 1}`)
    for (const one of runs) {
      await one.before?.()
      const { wallMs, cpuMs } = time(one.args, { ...env, ...one.env }, one.runs)
      // The first round warms the caches.
      if (round < 0) continue
      one.wall.push(wallMs)
      one.cpu.push(cpuMs)
    }
  }
  await hook.close()
  await busy.close()
  await space.close()
  const results = runs.map(({ label, wall, cpu }) => ({
    label,
    runs: wall.length,
    wallMs: median(wall),
    wallP90: quantile(
      wall.toSorted((a, b) => a - b),
      0.9,
    ),
    cpuMs: median(cpu),
  }))
  return { missing, results }
}

function time(args, env, runs = 1) {
  const started = performance.now()
  const { stdout, status } =
    bash === undefined
      ? spawnSync(args[0], args.slice(1), { env, encoding: 'utf8' })
      : spawnSync(bash, ['-c', timed, 'time', String(runs), ...args], { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${args.slice(1).join(' ')} failed with ${status}`)
  if (bash === undefined) return { wallMs: performance.now() - started, cpuMs: Number.NaN }
  const [real, user, system] = stdout.trim().split('\n').at(-1).split(' ').map(Number)
  return { wallMs: (real * 1_000) / runs, cpuMs: ((user + system) * 1_000) / runs }
}

/**
 * The hook that a client runs after every tool, with some process in the place of the client: once in a space
 * in which nothing happens, and once where mail has come every time.
 */
async function hookStage(library, space) {
  const { openSpace } = await loadLibrary()
  const quiet = await openSpace({ dir: scratchDir('startup-quiet') })
  const input = join(scratchDir('startup-input'), 'input.json')
  writeFileSync(input, JSON.stringify({ session_id: 'bench', tool_name: 'Read' }))
  const client = spawn('sleep', ['3600'], { stdio: 'ignore' })
  const common = {
    CLAUDE_PID: String(client.pid),
    CLAUDE_PROJECT_DIR: '',
    MAILBOX_AGENT: '',
    BENCH_INPUT: input,
  }
  const program = join(library, 'hook.sh')
  const envOf = ({ dir }) => ({ ...common, MAILBOX_SPACE: dir })
  const run = (event, env) =>
    execFileSync(program, ['claude', event], { env: { ...process.env, ...env }, input: readFileSync(input) })
  for (const one of [space, quiet]) run('SessionStart', envOf(one))
  const stamps = join(quiet.dir, 'hooks', 'stamps')
  while (!existsSync(stamps) || readdirSync(stamps).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 300))
    run('PostToolUse', envOf(quiet))
  }
  const { name } = (await space.agents()).find(({ session }) => session.pid === client.pid)
  const sender = await space.mailbox('bo')
  const mail = () => sender.send({ to: name, subject: 'Plan', body: 'hi', priority: 'high' })
  const args = [program, 'claude', 'PostToolUse']
  return {
    commands: [
      { label: 'hook, no mail', args, env: envOf(quiet), runs: quickRuns },
      { label: 'hook, one mail', args, env: envOf(space), before: mail },
    ],
    close: () => {
      client.kill()
      return quiet.close()
    },
  }
}

/** The same in a space with a desk that others write to all the time. */
async function deskStage(library, dir) {
  const keeper = new Child('desk-keeper.mjs')
  await keeper.ask('open', { dir })
  const input = join(scratchDir('startup-desk-input'), 'input.json')
  writeFileSync(input, JSON.stringify({ session_id: 'desk', tool_name: 'Read' }))
  const client = spawn('sleep', ['3600'], { stdio: 'ignore' })
  const names = { CLAUDE_PID: String(client.pid), CLAUDE_PROJECT_DIR: '', MAILBOX_AGENT: 'eve' }
  const env = { ...names, BENCH_INPUT: input, MAILBOX_SPACE: dir, MAILBOX_DESK: '' }
  const program = join(library.dir, 'hook.sh')
  // From a file: a hook that takes the quick path does not read it.
  const run = (event) =>
    execFileSync(program, ['claude', event], {
      env: { ...process.env, ...env },
      stdio: [openSync(input), 'ignore', 'ignore'],
    })
  run('SessionStart')
  const stamps = join(dir, 'hooks', 'stamps')
  const goesByBell = () =>
    existsSync(stamps) &&
    readdirSync(stamps).some((file) => readFileSync(join(stamps, file), 'latin1').startsWith('- '))
  for (let tries = 0; !goesByBell(); tries++) {
    if (tries === 100) throw new Error('the hook does not ask the desk')
    rmSync(stamps, { recursive: true, force: true })
    run('PostToolUse')
  }
  await keeper.ask('startWriting')
  const cli = [process.execPath, library.cli, '--as', 'ada']
  const args = [program, 'claude', 'PostToolUse']
  const mail = () => keeper.ask('mail', { to: 'eve', priority: 'high' })
  return {
    commands: [
      { label: 'mailbox check, no mail, with a desk', args: [...cli, 'check'], env },
      { label: 'mailbox count, with a desk', args: [...cli, 'count'], env },
      { label: 'mailbox send, with a desk', args: [...cli, 'send', 'bo', '--body', 'hi'], env },
      {
        label: 'hook, no mail, in a busy space',
        args,
        env,
        runs: quickRuns,
        before: async () => run('PostToolUse'),
      },
      { label: 'hook, one mail, in a busy space', args, env, before: mail },
    ],
    close: async () => {
      client.kill()
      await keeper.ask('close')
      await keeper.stop()
    },
  }
}

/** Why the command line cannot be measured: it must at least be able to count. */
function cliMissing(cli, env) {
  const { status, stdout, stderr } = spawnSync(cli[0], [...cli.slice(1), 'count', '--json'], {
    env,
    encoding: 'utf8',
  })
  if (status === 0 && /"unread"\s*:\s*0/.test(stdout)) return undefined
  return `\`mailbox count --json\` does not answer yet (exit ${status}: ${JSON.stringify((stdout || stderr).trim().slice(0, 80))})`
}

export function report({ results }) {
  const base = results[0]
  const rows = results.map(({ label, wallMs, wallP90, cpuMs }) => [
    `\`${label}\``,
    duration(wallMs),
    duration(wallP90),
    times(wallMs / base.wallMs),
    duration(cpuMs),
    times(cpuMs / base.cpuMs),
  ])
  return `The median of ${number(base.runs)} runs each, in turns, from start to exit, output thrown away; the hook without mail ${quickRuns} times at a time.

![start-up](startup.svg)

${table(['', 'wall', 'p90', 'to node -e 0', 'CPU', 'to node -e 0'], rows, 'lrrrrr')}`
}

export function plots({ results }) {
  const bars = results.map(({ label, wallMs }) => ({
    label,
    value: wallMs,
    text: duration(wallMs),
    group: label.startsWith('node') ? 'limit' : 'ours',
  }))
  const groups = { ours: 'agent-mailbox', limit: 'an empty Node process' }
  return {
    'startup.svg': barChart({
      title: 'Start-up',
      subtitle: 'wall time from start to exit, median; less is better',
      groups,
      bars,
    }),
  }
}

export function aims({ results, missing }) {
  const base = results[0].wallMs
  const of = (label) => {
    const found = results.find((result) => result.label === label)
    return found && found.wallMs / base
  }
  const why = 'there is no bash to time it with'
  return [
    { aim: 'hook without mail against node -e 0', atMost: 0.1, measured: of('hook, no mail'), why },
    {
      aim: 'hook without mail in a space that others write to all the time against node -e 0',
      atMost: 0.1,
      measured: of('hook, no mail, in a busy space'),
      why,
    },
    {
      aim: 'hook with mail against node -e 0',
      atMost: 1.5,
      measured: of('hook, one mail, in a busy space'),
      why,
    },
    {
      aim: '`mailbox check` without mail and with a desk against node -e 0',
      atMost: 1.35,
      measured: of('mailbox check, no mail, with a desk'),
      why: missing,
    },
    {
      aim: '`mailbox send` with a desk against node -e 0',
      atMost: 1.35,
      measured: of('mailbox send, with a desk'),
      why: missing,
    },
    {
      aim: '`mailbox count` with a desk against node -e 0',
      atMost: 1.35,
      measured: of('mailbox count, with a desk'),
      why: missing,
    },
    {
      aim: '`mailbox check` without mail against node -e 0',
      atMost: 1.5,
      measured: of('mailbox check, no mail'),
      why: missing,
    },
    {
      aim: '`mailbox check` with one mail against node -e 0',
      atMost: 1.5,
      measured: of('mailbox check, one mail'),
      why: missing,
    },
  ]
}
