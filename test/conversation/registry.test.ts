import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { talkOperations } from '../../src/api/talk-operations.ts'
import { allVerbs } from '../../src/cli/verbs.ts'
import { type Fields, findMisfit } from '../../src/conversation/field.ts'
import { checkPayload } from '../../src/conversation/payload.ts'
import {
  allActions,
  conversations,
  findStep,
  isOpenMatter,
  kinds,
  knownTypes,
  matterOf,
  matterStates,
  needs,
  typeOf,
  waysToAnswer,
} from '../../src/conversation/registry.ts'
import { payloadSchemas, toSchema } from '../../src/conversation/schema.ts'
import { steps as toolSteps } from '../../src/mcp/handle.ts'
import { fence, type Message, toMarkdown } from '../../src/mod.ts'
import { wordsFor } from '../../src/tmux/typed-text.ts'
import { message } from '../helpers/samples.ts'

const verbs = await allVerbs()

const actions = allActions()
const src = new URL('../../src', import.meta.url).pathname
/** Types that mean something beyond ordinary mail. */
const declared = conversations.filter(({ name }) => name !== 'question')
const types = declared.flatMap(({ messages }) => Object.keys(messages))
const one = (type: string): Message => message({ type, body: 'The body.' })

/** Files that may name a type, and why. */
const mayName: Record<string, string> = {
  'agent/lead-loop.ts': 'the handlers of a lead have the names of the types they handle',
  'hub/a2a/task.ts': 'it says which types are no answer to a task of A2A',
  'mcp/server.ts': 'it has a prompt named handoff',
}

describe('a declared type', () => {
  it('is named by no other source file', () => {
    const words = types.map((type) => (type.includes('_') ? `\\b${type}\\b` : `'${type}'`))
    const naming = readdirSync(src, { recursive: true, encoding: 'utf8' })
      // The formats of other systems translate their words into ours.
      .filter(
        (file) => file.endsWith('.ts') && !/^(conversation|demo|bridges\/(formats|claude))\//.test(file),
      )
      .filter((file) => new RegExp(words.join('|')).test(readFileSync(join(src, file), 'utf8')))
    expect(naming.sort()).toEqual(Object.keys(mayName).sort())
  })

  it.each(types)('%s reads in its own words everywhere', (type) => {
    const { sentence } = typeOf(type)!
    expect(sentence).toMatch(/^[A-Z].*\.$/)
    expect(toMarkdown(one(type))).toContain(sentence)
    expect(fence(one(type)).split('\n')[0]).toContain(sentence)
    expect(wordsFor(one(type), { token: 'abc', comment: '' }).text).toContain(sentence)
  })

  it.each(types.filter((type) => typeOf(type)!.opens !== undefined))('%s says how to answer it', (type) => {
    const { opens } = typeOf(type)!
    expect(kinds).toContain(opens)
    const { id } = one(type)
    const ways = waysToAnswer(type, id)
    expect(ways).not.toEqual([])
    for (const way of ways) {
      const [program, verb] = way.split(' ')
      expect(program).toBe('mailbox')
      expect(verbs.map(({ name }) => name)).toContain(verb)
      expect(way).toContain(id)
    }
    expect(toMarkdown(one(type))).toContain(ways.join(' | '))
  })

  it.each(types.filter((type) => typeOf(type)!.answers !== undefined))(
    '%s takes a step that exists',
    (type) => {
      const { answers, takes, conversation } = typeOf(type)!
      expect(typeOf(answers!)?.opens).toBe(conversation.matter?.kind)
      for (const payload of [{}, ...[true, false].map((yes) => ({ approved: yes, accepted: yes }))])
        expect(findStep(conversation.matter!.kind, takes!(payload))).toBeDefined()
    },
  )

  it('has a label in the list of what needs the person', () => {
    for (const type of knownTypes) {
      const { need } = typeOf(type)!
      if (need !== undefined) expect(needs.get(need.kind)).toBe(need.label)
    }
  })
})

describe('a kind of matter', () => {
  const declaredKinds = kinds.filter((kind) => kind !== 'ack')

  it.each(declaredKinds)('%s has steps between known states, and a way out of every open one', (kind) => {
    const steps = Object.values(matterOf(kind)!.steps)
    for (const { from, to } of steps) for (const state of [...from, to]) expect(matterStates).toContain(state)
    const open = ['open', ...steps.filter(({ staysOpen }) => staysOpen).map(({ to }) => to)]
    for (const state of open) {
      expect(isOpenMatter(state)).toBe(true)
      expect(steps.some(({ from, to }) => from.includes(state) && !open.includes(to))).toBe(true)
    }
  })
})

describe('an action', () => {
  const rows = actions.map((action) => [action.name, action] as const)

  it.each(rows)('%s is an operation over HTTP', (name, { summary, input }) => {
    const operation = talkOperations[name]!
    expect(operation.summary).toBe(summary)
    const { def } = operation.input as unknown as { def: { shape: object } }
    expect(Object.keys(def.shape)).toEqual(Object.keys(input))
  })

  it.each(rows)('%s says what its type allows', (_, action) => {
    const input = Object.fromEntries(
      Object.entries(action.input as Fields)
        .filter(([, { required }]) => required)
        .map(([name, { kind }]) => [name, kind === 'records' ? [{ body: 'x' }] : 'x']),
    )
    const { payload } = action.says(input, { name: 'ada', to: 'bob' })
    expect(() => checkPayload(action.type, payload, 'id' in input)).not.toThrow()
  })

  it.each(rows.filter(([, { step }]) => step !== undefined))('%s is a step of the MCP tool', (_, action) => {
    const { step, conversation } = action
    expect(toolSteps).toContain(step)
    expect(findStep(conversation.matter!.kind, step!)).toBeDefined()
    // What a reader is asked for must be what the action needs.
    if (action.button?.asks !== undefined) expect(action.input[action.reason!.field].required).toBe(true)
  })

  it.each(declared.filter(({ verb }) => verb !== undefined).map((one) => [one.verb!().name, one] as const))(
    'of %s is on the command line',
    (name, { verb }) => {
      const { summary, examples } = verb!()
      expect(verbs.find((each) => each.name === name)?.summary).toBe(summary)
      for (const example of examples) expect(example.startsWith(`mailbox ${name} `)).toBe(true)
    },
  )
})

describe('the check of a payload', () => {
  const typed = knownTypes.filter((type) => typeOf(type)?.payload !== undefined)
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('', 'x', -1, 0, 0.5, 1, true, false, 'urgent', [], ['x'], [{ body: 'x' }], [{ body: 1 }]),
  )

  it('has a JSON Schema of every type that declares one', () => {
    expect(Object.keys(payloadSchemas())).toEqual(typed)
  })

  it.each([
    ...typed.map((type) => [type, typeOf(type)!.payload!] as const),
    ...actions.map(({ name, input }) => [name, input as Fields] as const),
  ])('of %s agrees with its schema', (_, fields) => {
    const schema = toSchema(fields, { others: 'kept' })
    const objects = fc.dictionary(fc.constantFrom(...Object.keys(fields), 'other'), value)
    fc.assert(
      fc.property(fc.oneof(objects, value), (given) => {
        expect(findMisfit(fields, given) === undefined).toBe(schema.safeParse(given).success)
      }),
      { numRuns: 200 },
    )
  })

  it.each(typed)('of a %s is not needed to render one that was imported', (type) => {
    const names = Object.keys(typeOf(type)!.payload!)
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names, 'other'), value), (payload) => {
        const odd = { ...one(type), payload: payload as NonNullable<Message['payload']> }
        for (const text of [toMarkdown(odd), fence(odd)]) expect(text).toContain('The body.')
      }),
      { numRuns: 100 },
    )
  })

  it('says where it does not fit, and what would', () => {
    const check = () =>
      checkPayload('fix_review_comments', { comments: [{ body: 'x' }, { path: 'a' }] }, false)
    expect(check).toThrow('payload.comments.1.body of a fix_review_comments is missing')
    expect(() => checkPayload('plan_approval', undefined, true)).toThrow('payload of a plan_approval must be')
    expect(() => checkPayload('plan_approval', { approved: 1 }, false)).toThrow(
      'payload.approved of a plan_approval must be true or false',
    )
  })
})
