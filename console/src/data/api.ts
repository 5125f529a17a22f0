import { noteUnreachable } from './connection.ts'
import { noteAccepted, signOut, token } from './session.ts'

/** An error that the hub returned, or that kept us from reaching it. */
export class ApiError extends Error {
  readonly code: string
  readonly hint: string | undefined
  /** The same request may succeed a little later. */
  readonly isTransient: boolean

  constructor(code: string, message: string, hint?: string, isTransient = false) {
    super(message)
    this.code = code
    this.hint = hint
    this.isTransient = isTransient
  }
}

const headers = (): Record<string, string> => ({ authorization: `Bearer ${token.value ?? ''}` })

/** `used`: the token of the request. Another may be in use by now. */
async function answerOf<T>(response: Response, used: string | null): Promise<T> {
  if (response.ok) {
    noteAccepted()
    return (await response.json()) as T
  }
  const said = (await response.json().catch(() => null)) as {
    error?: { code?: string; message?: string; hint?: string }
  } | null
  const {
    code = 'internal',
    message = `the hub returned status ${response.status}`,
    hint,
  } = said?.error ?? {}
  if (response.status === 401) signOut(message, used)
  // A link of a hub that was restarted has been opened meanwhile: the same request has another token next time.
  const isOutdated = response.status === 401 && token.value !== null
  throw new ApiError(code, message, hint, isOutdated || response.status >= 500 || response.status === 429)
}

async function ask(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    noteUnreachable()
    throw new ApiError('unreachable', 'cannot reach the hub', 'Is `mailbox serve` still running?', true)
  }
}

export type Query = Record<string, string | number | undefined>

function withQuery(url: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const words = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return words === '' ? url : `${url}?${words}`
}

/** Reads. Changes nothing, and marks nothing as read. */
export async function get<T>(url: string, query?: Query, signal?: AbortSignal): Promise<T> {
  const used = token.value
  return answerOf<T>(
    await ask(withQuery(url, query), { headers: headers(), ...(signal && { signal }) }),
    used,
  )
}

/** Acts as the person. `keepalive`: the page is about to go, and the browser finishes the request without it. */
export async function act<T>(
  operation: string,
  input: object = {},
  { keepalive = false }: { keepalive?: boolean } = {},
): Promise<T> {
  const used = token.value
  return answerOf<T>(
    await ask(`/api/mailboxes/user/${operation}`, {
      method: 'POST',
      keepalive,
      headers: { ...headers(), 'content-type': 'application/json' },
      body: JSON.stringify(input),
    }),
    used,
  )
}

/** Opens the connection that delivers new entries. */
export async function openStream(after: number | undefined, signal: AbortSignal): Promise<Response> {
  const used = token.value
  const response = await ask(withQuery('/api/stream', { after }), {
    headers: { ...headers(), accept: 'text/event-stream' },
    signal,
  })
  if (!response.ok) await answerOf(response, used)
  return response
}
