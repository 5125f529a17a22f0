import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { startHub } from '../../src/http/hub.ts'
import { createAgentToken } from '../../src/http/tokens.ts'
import { createMcpEndpoint, type McpEndpointOptions } from '../../src/mcp/http.ts'
import { tempSpace } from '../helpers/temp.ts'

/** A hub in this process, on a port of its own, whose endpoint can be looked into. */
export async function stageHub(options: Partial<McpEndpointOptions> = {}) {
  const space = await tempSpace()
  const mcp = createMcpEndpoint(space, { version: '0.0.0-test', ...options })
  const hub = await startHub({ space, mcp, port: 0, version: '0.0.0-test', log: pino({ level: 'silent' }) })
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= mcp.close().then(() => hub.stop()))
  onTestFinished(stop)
  return {
    ...{ space, mcp, stop, url: hub.url, mcpUrl: `${hub.url}/mcp` },
    tokenOf: (name: string) => createAgentToken(space.dir, name),
  }
}

/** Looks until it is so. The limit is the test's own. */
export async function until(isSo: () => void | Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await isSo()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}
