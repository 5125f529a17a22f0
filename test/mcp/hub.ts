import { onTestFinished } from 'vitest'
import type { StartHubOptions } from '../../src/hub/hub.ts'
import { outsideSpace } from '../../src/hub/outside.ts'
import { createMcpEndpoint, type McpEndpointOptions } from '../../src/mcp/http.ts'
import { stageHub } from '../helpers/hub.ts'
import { tempSpace } from '../helpers/temp.ts'

/** A hub in this process, on a port of its own, whose MCP endpoint can be looked into. */
export async function stageMcp(
  options: Partial<McpEndpointOptions> = {},
  { allowHosts = [] }: Pick<Partial<StartHubOptions>, 'allowHosts'> = {},
) {
  const space = await tempSpace()
  const mcp = createMcpEndpoint(outsideSpace(space), { version: '0.0.0-test', resumeMs: 100, ...options })
  const { url, agentToken, ask } = await stageHub({ space, mcp, allowHosts })
  // Before the hub, which waits for its streams.
  onTestFinished(() => mcp.close())
  return { space, mcp, url, mcpUrl: `${url}/mcp`, tokenOf: agentToken, ask }
}
