import { signal } from '@preact/signals'

/**
 * The token is the `#token=` part of the URL that `mailbox serve` prints. It stays in this tab: the page removes
 * it from the address bar at once, so that no history, bookmark or screenshot contains it. It ends with the hub that
 * printed it: whatever listens at this address afterwards, and serves a page here, can do nothing with it.
 */
const key = 'mailbox.token'

export const token = signal<string | null>(null)
/** Why the hub rejected the token, or null. */
export const rejection = signal<string | null>(null)
/** The hub has accepted the token before: it has been restarted since, or the token was replaced. */
export const wasAccepted = signal(false)

/** Other tabs of this console. A link that is opened in a new tab asks them for the token. */
const tabs = new BroadcastChannel('mailbox.session')

/** Takes the token out of the address bar, at startup and when such a URL is opened in an existing page. */
function takeFromUrl(): string | undefined {
  const given = /^#token=([^&]+)/.exec(location.hash)?.[1]
  if (given === undefined) return undefined
  history.replaceState(history.state, '', location.pathname + location.search)
  return decodeURIComponent(given)
}

export async function openSession(): Promise<void> {
  const given = takeFromUrl()
  if (given !== undefined) {
    sessionStorage.setItem(key, given)
    // Tabs that wait for a new link go on with it.
    tabs.postMessage({ token: given })
  }
  addEventListener('hashchange', () => {
    const next = takeFromUrl()
    if (next !== undefined) signIn(next)
  })
  token.value = sessionStorage.getItem(key) ?? (await askOtherTabs())
  tabs.onmessage = ({ data }: MessageEvent<'ask' | { token?: unknown } | null>) => {
    if (data === 'ask') {
      if (token.value !== null) tabs.postMessage({ token: token.value })
    } else if (token.value === null && typeof data?.token === 'string') signIn(data.token)
  }
}

/** Half a second is long for a tab on the same machine, and short for a person. */
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

export function signIn(given: string): void {
  sessionStorage.setItem(key, given)
  rejection.value = null
  wasAccepted.value = false
  token.value = given
}

/** The hub has accepted the token. */
export function noteAccepted(): void {
  wasAccepted.value = true
}

/** The hub rejected a token: ask for another, unless there is one. Of several requests the first says why. */
export function signOut(why: string, used: string | null): void {
  if (token.value === null || token.value !== used) return
  sessionStorage.removeItem(key)
  rejection.value = why
  token.value = null
}
