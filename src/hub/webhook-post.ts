import type { Shaped } from './webhook-shapes.ts'
import { signatureOf } from './webhook-signature.ts'

const timeoutMs = 10_000

/** Posts once. `again`: what stood in the way may pass. */
export async function post(
  { url, type, body: content }: Shaped & { url: string },
  id: string,
  secret: string,
): Promise<{ reason?: string; again: boolean }> {
  const body = JSON.stringify(content)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': type,
        ...signatureOf(secret, id, body),
      },
      body,
      // Only the address that the person configured gets mail.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.body?.cancel()
    if (response.ok) return { again: false }
    const isBusy = response.status >= 500 || response.status === 408 || response.status === 429
    return { reason: `it answered ${response.status}`, again: isBusy }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error), again: true }
  }
}
