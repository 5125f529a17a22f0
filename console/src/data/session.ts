import { signal } from '@preact/signals'

/**
 * The token comes behind `#token=` of the address that `mailbox serve` prints. It stays in this tab: the
 * address bar is cleaned at once, so that no history, bookmark or screenshot holds it.
 */
const key = 'mailbox.token'

export const token = signal<string | null>(null)
/** Why the person is asked for a token; null when nobody has been refused. */
export const refused = signal<string | null>(null)

/** Other tabs of this console; a link that is opened in a new tab asks them for the token. */
const tabs = new BroadcastChannel('mailbox.session')

/** Takes a token out of the address, at the start and when such an address is opened in a page that is there. */
function takeFromAddress(): string | undefined {
  const given = /^#token=([^&]+)/.exec(location.hash)?.[1]
  if (given === undefined) return undefined
  history.replaceState(history.state, '', location.pathname + location.search)
  return decodeURIComponent(given)
}

export async function openSession(): Promise<void> {
  const given = takeFromAddress()
  if (given !== undefined) sessionStorage.setItem(key, given)
  addEventListener('hashchange', () => {
    const next = takeFromAddress()
    if (next !== undefined) enter(next)
  })
  token.value = sessionStorage.getItem(key) ?? (await askOtherTabs())
  tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (data === 'ask' && token.value !== null) tabs.postMessage({ token: token.value })
  }
}

/** Half a second is long for a tab on the same machine, and short for one who waits for the page. */
function askOtherTabs(timeoutMs = 500): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), timeoutMs)
    tabs.onmessage = ({ data }: MessageEvent<{ token?: unknown }>) => {
      if (typeof data?.token !== 'string') return
      clearTimeout(timer)
      sessionStorage.setItem(key, data.token)
      resolve(data.token)
    }
    tabs.postMessage('ask')
  })
}

export function enter(given: string): void {
  sessionStorage.setItem(key, given)
  refused.value = null
  token.value = given
}

/** The hub does not take the token: ask for another. */
export function refuse(why: string): void {
  sessionStorage.removeItem(key)
  refused.value = why
  token.value = null
}
