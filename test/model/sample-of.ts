import type { NamedField } from '../../src/model/fields.ts'

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
      return '2999-11-15T09:30:00.000Z'
    case 'whole':
      return 1
    case 'duration':
      return 60_000
    case 'json':
      return { n: 1 }
    case 'object':
      return { a: 'b' }
    case 'list':
      return items === 'tag' ? ['project:x', 'area:y'] : items === 'name' ? ['bob'] : ['a.txt', 'b.txt']
    case 'addresses':
      return 'ada'
    case 'reference':
      return true
  }
}
