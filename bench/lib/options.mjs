/** What the command line says, checked before anything starts. */
import { parseArgs } from 'node:util'

export const usage = `Measures agent-mailbox and its peers on this machine and writes a report.

  npm run bench -- [options]        or: node bench/run.mjs [options]

  --quick              smaller and shorter, under two minutes
  --only NAME          only this measurement; repeat it or separate names by commas
                       limit, send, security, broadcast, roster, push, machines, hub, startup,
                       read, growth, rebuild, desk, console, bridge
  --history N,N,N      lengths of history for read (the last one also for growth and rebuild)
  --dir DIR            where to put data while measuring; it should be on the disk you care for
                       (default: the temporary directory, unless that is in memory)
  --out DIR            where the report goes (default: bench/results, with --quick bench/results/quick,
                       with --only, --history or --profile bench/results/partial)
  --install-servers    install redis-server and nats-server with apt-get if they are missing (needs root)
  --no-build           measure dist/ as it is
  --profile DIR        write a CPU profile of every process there, for \`node bench/profile.mjs FILE\`;
                       the numbers of such a run are not worth keeping
  --help               this text

Peers that the machine lacks are left out and named in the report.`

export class UsageError extends Error {}

export function readOptions(args, names) {
  let values
  try {
    values = parseArgs({
      args,
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        history: { type: 'string' },
        dir: { type: 'string' },
        out: { type: 'string' },
        'install-servers': { type: 'boolean', default: false },
        'no-build': { type: 'boolean', default: false },
        profile: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError(error.message)
  }
  const only = values.only.flatMap((part) => part.split(',')).filter((part) => part !== '')
  const unknown = only.filter((name) => !names.includes(name))
  if (unknown.length > 0)
    throw new UsageError(`there is no measurement ${unknown.join(', ')}; there are: ${names.join(', ')}`)
  const history = values.history?.split(',').map((part) => Number(part.replaceAll('_', '')))
  if (history?.some((n) => !Number.isSafeInteger(n) || n < 200))
    throw new UsageError('--history takes whole numbers of at least 200')
  return { ...values, only, history: history?.toSorted((a, b) => a - b) }
}

/**
 * How long and how much.
 *
 * @typedef {object} Times
 * @property {number} rounds Turns of contestants whom an aim names.
 * @property {number} peerRounds Turns of all others.
 * @property {number} warmupMs Before each turn.
 * @property {number} ms The turn itself.
 * @property {number} askRounds Turns of each question about a history.
 * @property {number} askMs How long it is asked in each.
 * @property {number} sends Broadcasts, and direct sends, in each round.
 * @property {number} pushes Messages that are followed into another process.
 * @property {number} polls The same for the one that only looks every half second.
 * @property {number} commandWaits How often the command `mailbox wait` is started and answered.
 * @property {number} gapMs The mean time between them.
 * @property {number} followers How many follow the hub.
 * @property {number} perSecond Messages a second that are sent meanwhile.
 * @property {number} hubSeconds For how long.
 * @property {number} deskSeconds How long others work beside the desk of a large space.
 * @property {number} starts Runs of each command.
 * @property {number} growthRounds
 * @property {number} growthMs
 * @property {number} heldCalls Rounds of reads before memory is taken.
 * @property {number} viewRounds How often each view of the console is opened.
 */

/** @type {Times} */
const fullTimes = {
  rounds: 5,
  peerRounds: 3,
  warmupMs: 500,
  ms: 1_500,
  askRounds: 7,
  askMs: 200,
  sends: 300,
  pushes: 1_500,
  polls: 1_500,
  commandWaits: 60,
  gapMs: 20,
  followers: 500,
  perSecond: 1_000,
  hubSeconds: 60,
  deskSeconds: 600,
  starts: 40,
  growthRounds: 4,
  growthMs: 500,
  heldCalls: 500,
  viewRounds: 5,
}

/** @type {Times} */
const quickTimes = {
  rounds: 2,
  peerRounds: 1,
  warmupMs: 150,
  ms: 400,
  askRounds: 5,
  askMs: 25,
  sends: 40,
  pushes: 500,
  polls: 200,
  commandWaits: 10,
  gapMs: 6,
  followers: 100,
  perSecond: 500,
  hubSeconds: 6,
  deskSeconds: 6,
  starts: 20,
  growthRounds: 1,
  growthMs: 250,
  heldCalls: 50,
  viewRounds: 2,
}

/** A run that matters, or a quick look. */
export function planOf({ quick, history }) {
  const lengths = history ?? (quick ? [1_000, 20_000] : [1_000, 100_000, 1_000_000])
  const largest = lengths.at(-1)
  const growth = [100, 10, 1].map((part) => Math.max(200, Math.round(largest / part)))
  return {
    sizes: {
      history: lengths,
      growth: [...new Set(growth)],
      roster: quick ? 2_000 : 200_000,
      desk: quick ? 20_000 : 1_000_000,
      rebuild: history === undefined && quick ? 50_000 : largest,
      console: quick ? 10_000 : 100_000,
    },
    times: quick ? quickTimes : fullTimes,
  }
}
