import type { JsonValue } from './json.ts'

export const unreadableReasons = [
  'empty',
  'invalid_utf8',
  'nul_character',
  'invalid_json',
  'duplicate_key',
  'too_deep',
  'too_many_fields',
  'invalid_form',
] as const
/** Why signed bytes could not be read. They are stored all the same. */
export type UnreadableReason = (typeof unreadableReasons)[number]

/**
 * The parsed body. `text` is what is stored: the JSON text as received, or for a form the JSON
 * object of its fields; `readStored(kind, text)` returns the same payload. `exact` is false if
 * `text` does not hold all of the bytes (a byte order mark, a form).
 */
export type Payload =
  | {
      readonly kind: 'json'
      readonly text: string
      readonly value: JsonValue
      readonly exact: boolean
    }
  | {
      readonly kind: 'form'
      readonly text: string
      readonly value: ReadonlyMap<string, string>
      readonly exact: false
    }
  | { readonly kind: 'unreadable'; readonly reason: UnreadableReason }

/** A JSON body of which only the text is read so far: whether it is valid JSON shows later. */
export type UnparsedPayload =
  | Omit<Extract<Payload, { readonly kind: 'json' }>, 'value'>
  | Extract<Payload, { readonly kind: 'unreadable' }>

export function unreadable(reason: UnreadableReason): Payload & { readonly kind: 'unreadable' } {
  return { kind: 'unreadable', reason }
}
