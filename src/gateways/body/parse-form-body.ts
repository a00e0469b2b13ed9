import { decodeText } from './decode-text.ts'
import { parseForm } from './parse-form.ts'
import { unreadable, type Payload } from './payload.ts'

/** Reads a body as form fields, whatever its content type says. Never throws. */
export function parseFormBody(bytes: Uint8Array): Payload {
  const decoded = decodeText(bytes)
  if (!decoded.ok) return unreadable(decoded.reason)
  if (decoded.text === '') return unreadable('empty')
  const parsed = parseForm(decoded.text)
  if (!parsed.ok) return unreadable(parsed.reason)
  return { kind: 'form', text: fieldsText(parsed.value), value: parsed.value, exact: false }
}

/** By hand, because a JavaScript object would reorder names that look like numbers. */
function fieldsText(fields: ReadonlyMap<string, string>): string {
  const members = Array.from(
    fields,
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  )
  return `{${members.join(',')}}`
}
