import { describe, expect, test } from 'vitest'
import { parseAddress } from '../../src/model/address.ts'
import { Directory } from '../../src/model/directory.ts'
import { forbidden, isLead, leadRoles, type Rules } from '../../src/model/rules.ts'
import { agent, joined } from '../helpers/samples.ts'

const ada = agent('ada', { roles: ['worker'], tags: ['project:x'] })
const lea = agent('lea', { roles: ['tester', 'lead'] })
const directory = new Directory()
for (const [at, one] of [ada, lea, agent('bob')].entries()) directory.fold(joined(at + 1, one))

const why = (rules: Rules, sender: string, to: string, leads: readonly string[] = leadRoles) => {
  const from = directory.agents.get(sender) ?? agent(sender)
  return forbidden(rules, leads, directory, from, parseAddress(to))
}
const may = (rules: Rules, sender: string, to: string) => why(rules, sender, to) === undefined

describe('open rules', () => {
  test('let everyone write to everyone', () => {
    expect(['bob', 'role:x', 'all', 'project:y', 'user'].every((to) => may('open', 'ada', to))).toBe(true)
  })
})

describe('hub rules', () => {
  test.each([
    ['ada', 'lea', true],
    ['ada', 'role:lead', true],
    ['ada', 'role:coo', true],
    ['ada', 'user', true],
    ['ada', 'role:user', false],
    ['ada', 'bob', false],
    ['ada', 'nobody', false],
    ['ada', 'role:worker', false],
    ['ada', 'all', false],
    ['ada', 'project:x', false],
    ['lea', 'bob', true],
    ['lea', 'all', true],
    ['user', 'bob', true],
    ['system', 'bob', true],
  ])('%s to %s: %j', (sender, to, allowed) => {
    expect(may('hub', sender, to)).toBe(allowed)
  })

  test('say so, and go by the roles that lead here', () => {
    expect(why('hub', 'ada', 'bob')).toBe('hub: agents may write only to a lead or the person')
    expect(why('hub', 'ada', 'lea', ['boss'])).toMatch(/^hub/)
    expect(why('hub', 'ada', 'role:boss', ['boss'])).toBeUndefined()
  })
})

describe('a list of rules', () => {
  test.each<[string, Rules, string, string, boolean]>([
    ['nothing is allowed by no rule', [], 'ada', 'bob', false],
    ['by name', [{ from: 'ada', to: 'bob' }], 'ada', 'bob', true],
    ['only the sender named', [{ from: 'ada', to: 'bob' }], 'lea', 'bob', false],
    ['only the recipient named', [{ from: 'ada', to: 'bob' }], 'ada', 'lea', false],
    ['anyone', [{ from: '*', to: 'bob' }], 'lea', 'bob', true],
    ['to anyone', [{ from: 'ada', to: '*' }], 'ada', 'all', true],
    ['by role of the sender', [{ from: 'role:worker', to: '*' }], 'ada', 'bob', true],
    ['a bare name is no role', [{ from: 'worker', to: '*' }], 'ada', 'bob', false],
    [
      'a tag whose value is the name of a role is no role',
      [{ from: 'four:worker', to: '*' }],
      'ada',
      'bob',
      false,
    ],
    ['by tag of the sender', [{ from: 'project:x', to: '*' }], 'ada', 'bob', true],
    ['by role of the recipient', [{ from: '*', to: 'role:worker' }], 'lea', 'ada', true],
    ['to the role itself', [{ from: '*', to: 'role:worker' }], 'lea', 'role:worker', true],
    ['by tag of the recipient', [{ from: '*', to: 'project:x' }], 'lea', 'ada', true],
    ['not to others with another role', [{ from: '*', to: 'role:worker' }], 'lea', 'bob', false],
    ['not to a group that is not named', [{ from: '*', to: 'ada' }], 'lea', 'all', false],
    ['to a role that is not an agent of that name', [{ from: '*', to: 'ada' }], 'lea', 'role:ada', false],
    ['the person may always be written to', [], 'ada', 'user', true],
    ['the person may write to anyone', [], 'user', 'bob', true],
    ['the system may write to anyone', [], 'system', 'bob', true],
    [
      'the first that fits decides: no',
      [
        { from: 'ada', to: 'bob', allow: false },
        { from: '*', to: '*' },
      ],
      'ada',
      'bob',
      false,
    ],
    [
      'the first that fits decides: yes',
      [
        { from: 'ada', to: 'bob', allow: true },
        { from: '*', to: '*', allow: false },
      ],
      'ada',
      'bob',
      true,
    ],
  ])('%s', (_, rules, sender, to, allowed) => {
    expect(may(rules, sender, to)).toBe(allowed)
  })

  test('says which rule forbids it', () => {
    expect(why([{ from: 'ada', to: '*', allow: false }], 'ada', 'bob')).toBe(
      'rule { from: ada, to: *, allow: false }',
    )
    expect(why([], 'ada', 'bob')).toBe('no rule allows it')
  })
})

test('an agent leads by one of its roles', () => {
  expect([isLead(lea, leadRoles), isLead(ada, leadRoles), isLead(ada, ['x', 'worker'])]).toEqual([
    true,
    false,
    true,
  ])
  expect(leadRoles).toEqual(['lead', 'orchestrator', 'coordinator', 'coo', 'ceo'])
})
