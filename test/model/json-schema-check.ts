type Schema = Record<string, unknown>

/** As much of JSON Schema as our own schemas use; whatever else one says is an error, not a pass. */
export function validates(schema: object, value: unknown, root: object = schema): boolean {
  return Object.entries(schema as Schema).every(([word, rule]) => {
    const check = keywords[word]
    if (check === undefined) throw new Error(`this check does not know the keyword ${word}`)
    return check(value, rule as never, schema as Schema, root as Schema)
  })
}

type Keyword = (value: unknown, rule: never, schema: Schema, root: Schema) => boolean

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const keywords: Record<string, Keyword> = {
  $schema: () => true,
  $defs: () => true,
  id: () => true,
  type: (value, rule: string | string[]) => [rule].flat().some((type) => isOfType(value, type)),
  enum: (value, rule: unknown[]) => rule.includes(value),
  const: (value, rule) => value === rule,
  pattern: (value, rule: string) => typeof value !== 'string' || new RegExp(rule, 'u').test(value),
  minLength: (value, rule: number) => typeof value !== 'string' || value.length >= rule,
  maxLength: (value, rule: number) => typeof value !== 'string' || value.length <= rule,
  minimum: (value, rule: number) => typeof value !== 'number' || value >= rule,
  maximum: (value, rule: number) => typeof value !== 'number' || value <= rule,
  minItems: (value, rule: number) => !Array.isArray(value) || value.length >= rule,
  maxItems: (value, rule: number) => !Array.isArray(value) || value.length <= rule,
  items: (value, rule: Schema, _, root) =>
    !Array.isArray(value) || value.every((item) => validates(rule, item, root)),
  required: (value, rule: string[]) => !isObject(value) || rule.every((key) => Object.hasOwn(value, key)),
  properties: (value, rule: Record<string, Schema>, _, root) =>
    !isObject(value) ||
    Object.entries(rule).every(
      ([key, inner]) => !Object.hasOwn(value, key) || validates(inner, value[key], root),
    ),
  additionalProperties: (value, rule: boolean | Schema, { properties = {} }, root) =>
    !isObject(value) ||
    Object.entries(value).every(
      ([key, item]) =>
        Object.hasOwn(properties as object, key) ||
        (rule !== false && (rule === true || validates(rule, item, root))),
    ),
  propertyNames: (value, rule: Schema, _, root) =>
    !isObject(value) || Object.keys(value).every((key) => validates(rule, key, root)),
  anyOf: (value, rule: Schema[], _, root) => rule.some((option) => validates(option, value, root)),
  oneOf: (value, rule: Schema[], _, root) =>
    rule.filter((option) => validates(option, value, root)).length === 1,
  $ref: (value, rule: string, _, root) => validates(resolve(root, rule), value, root),
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    default:
      return typeof value === type
  }
}

function resolve(root: Schema, ref: string): Schema {
  if (!ref.startsWith('#')) throw new Error(`${ref} points outside`)
  const found = ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Schema | undefined)?.[key], root)
  if (!isObject(found)) throw new Error(`${ref} points at nothing`)
  return found
}
