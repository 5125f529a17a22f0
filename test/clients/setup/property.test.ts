import fc from 'fast-check'
import { stringify } from 'smol-toml'
import { expect, it } from 'vitest'
import { clientSetups } from '../../../src/clients/registry.ts'
import { inStorm } from '../../helpers/storm.ts'
import { placeIn } from './home.ts'

const files = clientSetups.flatMap((client) => client.files(placeIn('/home/zoe')))
const fileOf = (client: string, id: string) => files.find((file) => file.client === client && file.id === id)!
const runs = { numRuns: inStorm(1_500, 40) }

/** A hook of somebody else's, and lists of them as clients have them. */
const hook = fc.record({ type: fc.constant('command'), command: fc.string({ minLength: 1 }) })
const group = fc.record(
  { matcher: fc.string(), hooks: fc.array(hook, { minLength: 1, maxLength: 3 }) },
  { requiredKeys: ['hooks'] },
)
const event = fc.constantFrom('Stop', 'SessionStart', 'PostToolUse', 'AfterTool', 'Notification')
const hooks = fc.dictionary(event, fc.array(group, { minLength: 1, maxLength: 3 }), { minKeys: 1 })
const servers = fc.dictionary(
  fc.string().filter((name) => name !== 'mailbox'),
  fc.record({ command: fc.string() }),
  {
    minKeys: 1,
  },
)
const settings = fc
  .record(
    { rest: fc.dictionary(fc.string(), fc.jsonValue()), hooks, mcpServers: servers },
    { requiredKeys: ['rest'] },
  )
  .map(({ rest, ...known }) => ({ ...rest, ...known }))
  // A key of that name with something else in it is refused, which is another matter.
  .filter((value) => Object.keys(value).length > 0)

/** The ways people lay their files out. */
const layout = fc.record({
  indent: fc.constantFrom<string | number>(2, 4, '\t', 0),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  comments: fc.array(fc.nat(), { maxLength: 4 }),
  commaLast: fc.boolean(),
  end: fc.constantFrom('', '\n', '\n\n'),
})

type Layout = typeof layout extends fc.Arbitrary<infer T> ? T : never

/** JSON with comments behind some of its lines; on one line there is room for none. */
function write(value: object, { indent, lineEnd, comments, commaLast, end }: Layout): string {
  const lines = JSON.stringify(value, null, indent).split('\n')
  if (commaLast && lines.length > 2 && indent !== 0) lines[lines.length - 2] += ','
  for (const at of indent === 0 ? [] : comments) lines[at % lines.length] += ' // a "comment", {with} [marks]'
  return lines.join(lineEnd) + end.replaceAll('\n', lineEnd)
}

it('what is added to JSON can be taken out again, to the byte', () => {
  for (const file of [
    fileOf('claude', 'settings'),
    fileOf('claude', 'servers'),
    fileOf('gemini', 'settings'),
  ]) {
    fc.assert(
      fc.property(settings, layout, (value, how) => {
        const text = write(value, how)
        const after = file.install(text)
        expect(file.install(after)).toBe(after)
        expect(file.uninstall(after)).toBe(text)
        expect(file.uninstall(text)).toBe(text)
      }),
      runs,
    )
  }
})

const tomlKey = fc.string({ minLength: 1 }).filter((key) => key !== 'mailbox' && key !== 'mcp_servers')
const scalar = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
  fc.integer(),
  fc.boolean(),
  fc.double({ noNaN: true }),
)
const tomlTable: fc.Arbitrary<Record<string, unknown>> = fc.dictionary(
  tomlKey,
  fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(tomlKey, scalar, { maxKeys: 3 })),
  { maxKeys: 5 },
)

it('what is added to TOML can be taken out again', () => {
  const file = fileOf('codex', 'config')
  fc.assert(
    fc.property(
      tomlTable,
      tomlTable,
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      (table, servers, lineEnd, isInline) => {
        const own = Object.fromEntries(Object.entries(servers).map(([name]) => [name, { command: name }]))
        const inline = `mcp_servers = { ${Object.keys(own)
          .map((name) => `${JSON.stringify(name)} = { command = ${JSON.stringify(name)} }`)
          .join(', ')} } # a comment\n`
        const text = (
          isInline ? inline + stringify(table) : stringify({ ...table, mcp_servers: own })
        ).replaceAll('\n', lineEnd)
        const after = file.install(text)
        expect(file.install(after)).toBe(after)
        expect(file.uninstall(after).trimEnd()).toBe(text.trimEnd())
        expect(file.uninstall(text)).toBe(text)
      },
    ),
    runs,
  )
})
