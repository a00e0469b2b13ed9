/** How many fields of a form are read at most; no provider sends a third of that. */
export const mostFields = 200

export type FormFailure = 'invalid_form' | 'invalid_utf8' | 'duplicate_key' | 'too_many_fields'

export type FormResult =
  | { readonly ok: true; readonly value: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly reason: FormFailure }

/**
 * application/x-www-form-urlencoded, decoded exactly once. Names are literal (`a[]` is a name, `;`
 * separates nothing). A name that appears twice is ambiguous and fails. A form with too many
 * fields, including empty ones, fails before any field is read. Never throws.
 */
export function parseForm(text: string): FormResult {
  const fields = new Map<string, string>()
  const pairs = text.split('&', mostFields + 1)
  if (pairs.length > mostFields) return { ok: false, reason: 'too_many_fields' }
  for (const pair of pairs) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals))
    if (!name.ok) return name
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1))
    if (!value.ok) return value
    if (fields.has(name.text)) return { ok: false, reason: 'duplicate_key' }
    fields.set(name.text, value.text)
  }
  return { ok: true, value: fields }
}

type Decoded = { readonly ok: true; readonly text: string } | Extract<FormResult, { ok: false }>

const badPercent = /%(?![0-9a-fA-F]{2})/

function decode(part: string): Decoded {
  if (badPercent.test(part)) return { ok: false, reason: 'invalid_form' }
  try {
    return { ok: true, text: decodeURIComponent(part.replaceAll('+', ' ')) }
  } catch {
    return { ok: false, reason: 'invalid_utf8' }
  }
}
