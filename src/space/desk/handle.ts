import { monotonicMs } from '../../base/timers.ts'
import { GoDirect } from '../../desk/serve.ts'
import type { Ask } from '../../desk/wire.ts'
import type { SendInput } from '../../model/fields.ts'
import type { SpaceCore } from '../core.ts'
import type { SentMessage } from '../mailbox/api.ts'
import type { Holder } from '../mailbox/looking.ts'
import { sendDirectly } from '../mailbox/sending.ts'

/** What the desk does for others. Whatever it throws besides a refusal sends them the direct way. */
export async function handle(core: SpaceCore, ask: Ask, now = monotonicMs): Promise<unknown> {
  const { verb, by, id, until } = ask
  if (verb !== 'send' || by?.name === undefined || id === undefined)
    throw new GoDirect(`${verb} is not asked here`)
  /**
   * Whoever has waited until then decides by itself, with the same id. It cannot write before this decision is
   * written or given up, and this one finds what it wrote: so whichever of the two is late does nothing.
   */
  const inTime: Holder['inTime'] = ({ directory }) => {
    if (now() > until || directory.recent.has(id)) throw new GoDirect('late')
  }
  const input = ask.args[0] as SendInput
  return withoutBody(await sendDirectly({ core, name: by.name, pid: by.pid, inTime }, input, { id }), input)
}

type Sent = Omit<SentMessage, 'body'> & Partial<Pick<SentMessage, 'body'>>

/** Its sender knows the body, which can be long. */
function withoutBody({ body, ...sent }: SentMessage, input: SendInput): Sent {
  return body === input.body ? sent : { ...sent, body }
}

export const withBody = (sent: Sent, { body = '' }: SendInput): SentMessage =>
  ({ body, ...sent }) as SentMessage
