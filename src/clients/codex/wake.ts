import { readlinkSync } from 'node:fs'

const timeoutMs = 20_000

/** Queues a prompt for an idle session with the command that Codex has for it. */
export async function queuePrompt({ id, pid }: { id: string; pid: number }, prompt: string): Promise<void> {
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  const args = ['queue', '--thread', id, '--message', prompt]
  await promisify(execFile)(programOf(pid), args, { timeout: timeoutMs })
}

/** The program that runs the session, where the system tells: it need not be the one on the PATH. */
function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return 'codex'
  }
}
