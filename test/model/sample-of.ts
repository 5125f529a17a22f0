import { fileURLToPath } from 'node:url'
import type { NamedField } from '../../src/model/fields.ts'

/** Files that are there, wherever a test runs. */
const files = ['sample-of.ts', 'fields.test.ts'].map((file) => fileURLToPath(new URL(file, import.meta.url)))

/** A value that every way in accepts. A new kind of field has to say what one looks like. */
export function sampleOf({ name, kind, items }: NamedField): unknown {
  switch (kind) {
    case 'id':
    case 'word':
      return `w-${name}`
    case 'name':
      return 'dev'
    case 'text':
      return `the ${name}`
    case 'flag':
      return true
    case 'priority':
      return 'high'
    case 'time':
      return new Date(Date.now() + 3_600_000).toISOString()
    case 'whole':
      return 1
    case 'duration':
      return 60_000
    case 'json':
      return { n: 1 }
    case 'object':
      return { a: 'b' }
    case 'list':
      return items === 'tag' ? ['project:x', 'area:y'] : items === 'name' ? ['bob'] : files
    case 'addresses':
      return 'ada'
    case 'reference':
      return true
  }
}
