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

async function answerOf<T>(response: Response): Promise<T> {
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
  if (response.status === 401) signOut(message)
  throw new ApiError(code, message, hint, response.status >= 500 || response.status === 429)
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
  return answerOf<T>(await ask(withQuery(url, query), { headers: headers(), ...(signal && { signal }) }))
}

/** Acts as the person. */
export async function act<T>(operation: string, input: object = {}): Promise<T> {
  return answerOf<T>(
    await ask(`/api/mailboxes/user/${operation}`, {
      method: 'POST',
      headers: { ...headers(), 'content-type': 'application/json' },
      body: JSON.stringify(input),
    }),
  )
}

/** Opens the connection that delivers new entries. */
export async function openStream(after: number | undefined, signal: AbortSignal): Promise<Response> {
  const response = await ask(withQuery('/api/stream', { after }), {
    headers: { ...headers(), accept: 'text/event-stream' },
    signal,
  })
  if (!response.ok) await answerOf(response)
  return response
}
