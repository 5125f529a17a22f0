/** JSON as `json.dump(value, file, indent=2)` of Python writes it: everything beyond ASCII is escaped. */
export function pythonJson(value: unknown): string {
  return ascii(JSON.stringify(value, null, 2))
}

/** One line, as `json.dumps(value)` writes it: with a blank after each comma and colon. */
export function pythonLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonLine).join(', ')}]`
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).filter(([, one]) => one !== undefined)
    return `{${members.map(([key, one]) => `${ascii(JSON.stringify(key))}: ${pythonLine(one)}`).join(', ')}}`
  }
  return ascii(JSON.stringify(value))
}

const ascii = (json: string): string =>
  json.replaceAll(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
