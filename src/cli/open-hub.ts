import { MailboxError } from '../base/errors.ts'
import type { OpenedSpace } from '../space/api.ts'
import type { BridgedSpace } from '../space/bridged.ts'
import { tokenFor } from '../space/logins.ts'
import type { HubPlace } from '../space/place.ts'
import type { Cli } from './cli.ts'
import { askedFor, foundPlace, openAtHub, patienceMs } from './open.ts'

/** Opens the space behind the hub with the token of an agent, and of no other. Does not wait for it. */
export async function openAs(cli: Cli, agent: string): Promise<OpenedSpace> {
  const place = foundPlace(cli) as HubPlace
  const { openRemote } = await import('../space/open.ts')
  const token = tokenFor({ url: place.url }, agent, process.env)
  const space = await openRemote({ url: place.url, token, retryForMs: 0 })
  if (space.you === agent) return space
  await space.close()
  throw new MailboxError('not_permitted', `there is no token of ${agent} for ${place.url}`, {
    hint: `on the machine of the hub: mailbox token ${agent}; then here: mailbox login ${place.url}`,
  })
}

/** Opens a space behind a hub for a bridge. `untilItIsBack`: whenever the hub is away, the bridge waits for it. */
export async function openForBridge(
  cli: Cli,
  place: HubPlace,
  { untilItIsBack }: { untilItIsBack: boolean },
): Promise<{ space: BridgedSpace; close: () => void }> {
  // Whoever starts it hears at once what is wrong.
  await using space = await openAtHub(cli, place, {})
  const { openRemoteForBridge } = await import('../space/open.ts')
  return openRemoteForBridge({
    ...{ url: place.url, token: tokenFor(place, askedFor(cli) ?? space.you, process.env) },
    retryForMs: untilItIsBack ? Number.POSITIVE_INFINITY : patienceMs,
  })
}
