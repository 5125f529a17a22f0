/** Tools of the MCP server that take an agent's mail, or settle it. */
const takingTools = ['check', 'read', 'wait', 'handle'] as const

export const takesMail = (tool: string): boolean => takingTools.some((name) => name === tool)

/** The same tools as clients name them: `mcp__mailbox__check`, `mcp_mailbox_check`, `mailbox_check`. */
export const takingToolPattern = `.*mailbox_+(${takingTools.join('|')})`

export const isTakingTool = (name: string): boolean => new RegExp(`^${takingToolPattern}$`).test(name)

/** Why a subagent may not call them, and what it can do instead. */
export const subagentRefusal =
  'This mailbox belongs to the agent that started you, and its mail is not for you. Tell that agent in your report what you found out or need. You can still use send, search, agents and owed.'
