import * as z from 'zod/mini'
import { priorityInput } from '../model/schemas.ts'
import type { Field, Fields } from './field.ts'
import { knownTypes, type TypedName, typeOf } from './registry.ts'

/** Fields as a schema, for what zod checks and describes. Apart, so that nobody else has to load zod. */
const schemas: Record<Field['kind'], z.ZodMiniType> = {
  text: z.string(),
  word: z.string().check(z.minLength(1)),
  texts: z.array(z.string()),
  number: z.number(),
  whole: z.int(),
  share: z.number().check(z.minimum(0), z.maximum(1)),
  duration: z.number().check(z.positive()),
  boolean: z.boolean(),
  priority: priorityInput,
  scalar: z.union([z.string(), z.number()]),
  any: z.unknown(),
  records: z.array(z.unknown()),
}

interface SchemaOptions {
  /** Fields that are not named: kept or refused. */
  others: 'kept' | 'refused'
  /** In place of ours, such as one with a name in a document. */
  own?: Partial<typeof schemas>
}

export function toSchema(fields: Fields, options: SchemaOptions): z.ZodMiniType {
  const shape = Object.entries(fields).map(([name, { kind, required = false, fields: inner }]) => {
    const one =
      inner === undefined ? (options.own?.[kind] ?? schemas[kind]) : z.array(toSchema(inner, options))
    return [name, required ? one : z.exactOptional(one)]
  })
  const object = options.others === 'kept' ? z.looseObject : z.strictObject
  return object(Object.fromEntries(shape))
}

/** The payloads of known types as JSON Schema, for programs in other languages. */
export function payloadSchemas(): Record<TypedName, object> {
  const typed = knownTypes.flatMap((name) => {
    const fields = typeOf(name)?.payload
    return fields === undefined ? [] : [[name, z.toJSONSchema(toSchema(fields, { others: 'kept' }))]]
  })
  return Object.fromEntries(typed) as Record<TypedName, object>
}
