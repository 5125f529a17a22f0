/**
 * What was found by playing a week before: each point, in a sentence. The simulation counts how often each of them
 * comes up; the model above says what would be wrong about it.
 */
export const scenarios = {
  E1: 'a verdict arrives while its agent is frozen, and the session is resumed',
  E2: 'an agent that has read a verdict freezes and comes back',
  E3: 'work fails, and whoever gave it waits',
  E4: 'mail for the person is sent before a night or a weekend',
  E5: 'a question to a group is read and not answered',
  E6: 'the recipient of acked or answered mail leaves or dies, and returns',
  E7: 'an agent returns to urgent mail that it has not read',
  E8: 'a request to shut down is deferred',
  E9: 'urgent mail to a role that also needs an ack',
  E10: 'a request with a deadline of three hours',
  E11: 'a broadcast that needs acks, and only some give them',
  E12: 'plain text to a role',
  E13: 'a tool hook during work for a role',
  E14: 'three pieces of work for a role at once',
  E15: 'mail to a role from one who holds it',
  E16: 'mail to a role with a life, whose holder is frozen',
  E17: 'a briefing at the start of a session with something open',
  E18: 'a crash of more than five minutes while mail arrives',
  E19: 'a reply to urgent mail',
  A1: 'urgent mail to a role is answered by its holder',
  A2: 'an ack by a reply, or by a message of type ack',
  A3: 'an answer to something unread, by its recipient or by the person',
  A4: 'a session ends after it has answered a request to its role',
  A6: 'a handoff is done, with a note',
  A7: 'an agent acts after its process has ended, without joining again',
  A8: 'the roster is asked after a process has ended',
  A9: 'count, inbox and stats are compared',
  A19: 'a session is killed that has read mail and not handled it',
  A20: 'several urgent messages to one recipient who does not read',
} as const

export type Scenario = keyof typeof scenarios

/** The points that no week can show, and where they are tested instead. */
export const elsewhere = {
  A5: 'answers inside a running handler: test/agent',
  A10: 'export and import: test/space',
  A11: 'unknown types: test/conversation',
  A12: 'options of the command line: test/cli',
  A13: 'resumed sessions of real clients: test/clients/real',
  A14: 'fields of MCP send: test/mcp',
  A15: 'subagents of real clients: test/clients/real',
  A16: 'the first session after init: test/clients',
  A17: 'mail at Stop in the context of real clients: test/clients/real',
  A18: 'what keeps an agent from stopping: test/clients/hook',
  A21: 'typed mail in words: test/conversation',
  A22: "the seeds' words: test/conversation and test/cli",
} as const
