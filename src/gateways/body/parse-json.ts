import { endOfNested } from './end-of-nested.ts'
import type { JsonObject, JsonValue } from './json.ts'

/** How deep containers may be nested; deeper input is not parsed. */
export const deepestNesting = 64

export type JsonFailure = 'invalid_json' | 'duplicate_key' | 'too_deep' | 'too_many_fields'

export type JsonResult =
  | { readonly ok: true; readonly value: JsonValue }
  | {
      readonly ok: false
      readonly reason: JsonFailure
      /** The key that appears twice. */
      readonly key?: string
    }

/** How much of a text is read, for bodies that anyone can send. */
export interface JsonLimits {
  /**
   * Members of objects and items of lists that are kept, all together; a text with more is refused.
   */
  readonly mostMembers: number
  /** How deep containers are kept; of a deeper one only the end is looked for. */
  readonly keptDepth: number
}

/** For fields that lie side by side. No provider sends a third of that many. */
export const flatFields: JsonLimits = { mostMembers: 200, keptDepth: 1 }

const unlimited: JsonLimits = { mostMembers: Infinity, keptDepth: Infinity }

/**
 * Our own strict JSON parser (RFC 8259), because `JSON.parse` rounds numbers, takes the last of two
 * equal keys and does not limit nesting. Numbers keep their source text. A key that appears twice,
 * however it is escaped, is ambiguous and fails. `\u0000` and lone surrogate escapes are content.
 * What is too deep to be kept is read as an empty list, whatever it holds. Never throws; linear in
 * the length of the text.
 */
export function parseJson(text: string, limits: JsonLimits = unlimited): JsonResult {
  const reader: Reader = { text, limits, at: 0, depth: 0, members: 0, failure: undefined }
  skipSpace(reader)
  const value = readValue(reader)
  skipSpace(reader)
  if (value === undefined || reader.at !== text.length) {
    const { failure: reason = 'invalid_json', key } = reader
    return { ok: false, reason, ...(key !== undefined && { key }) }
  }
  return { ok: true, value }
}

/** Character codes: comparing numbers is several times faster than comparing one-letter texts. */
const code = {
  tab: 0x09,
  newLine: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  f: 0x66,
  n: 0x6e,
  t: 0x74,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const

interface Reader {
  readonly text: string
  readonly limits: JsonLimits
  at: number
  depth: number
  members: number
  failure: JsonFailure | undefined
  /** The key that appears twice. */
  key?: string
}

// Each function below reads one piece at `reader.at`; undefined means that the text is refused.

function readValue(reader: Reader): JsonValue | undefined {
  switch (reader.text.charCodeAt(reader.at)) {
    case code.quote:
      return readString(reader)
    case code.openBrace:
      return readNested(reader, readObject)
    case code.openBracket:
      return readNested(reader, readArray)
    case code.t:
      return readWord(reader, 'true', true)
    case code.f:
      return readWord(reader, 'false', false)
    case code.n:
      return readWord(reader, 'null', null)
    default:
      return readNumber(reader)
  }
}

/** The depth limit also keeps the recursion from exhausting the stack. */
function readNested<T>(
  reader: Reader,
  read: (reader: Reader) => T | undefined,
): T | readonly JsonValue[] | undefined {
  if (reader.depth === deepestNesting) return refuse(reader, 'too_deep')
  if (reader.depth >= reader.limits.keptDepth) return skipNested(reader)
  reader.depth += 1
  reader.at += 1
  skipSpace(reader)
  const value = read(reader)
  reader.depth -= 1
  return value
}

function readObject(reader: Reader): JsonObject | undefined {
  const object = new Map<string, JsonValue>()
  if (take(reader, code.closeBrace)) return object
  for (;;) {
    if (!count(reader)) return undefined
    const key = reader.text.charCodeAt(reader.at) === code.quote ? readString(reader) : undefined
    if (key === undefined) return undefined
    skipSpace(reader)
    if (!take(reader, code.colon)) return undefined
    skipSpace(reader)
    const value = readValue(reader)
    if (value === undefined) return undefined
    const { size } = object
    object.set(key, value)
    if (object.size === size) {
      reader.key = key
      return refuse(reader, 'duplicate_key')
    }
    skipSpace(reader)
    if (take(reader, code.closeBrace)) return object
    if (!take(reader, code.comma)) return undefined
    skipSpace(reader)
  }
}

function readArray(reader: Reader): readonly JsonValue[] | undefined {
  const items: JsonValue[] = []
  if (take(reader, code.closeBracket)) return items
  for (;;) {
    if (!count(reader)) return undefined
    const value = readValue(reader)
    if (value === undefined) return undefined
    items.push(value)
    skipSpace(reader)
    if (take(reader, code.closeBracket)) return items
    if (!take(reader, code.comma)) return undefined
    skipSpace(reader)
  }
}

/** Whether one more may be read: a text with too many is refused before they are all read. */
function count(reader: Reader): boolean {
  reader.members += 1
  if (reader.members <= reader.limits.mostMembers) return true
  refuse(reader, 'too_many_fields')
  return false
}

const nothing: readonly JsonValue[] = []

function skipNested(reader: Reader): readonly JsonValue[] | undefined {
  const end = endOfNested(reader.text, reader.at, deepestNesting - reader.depth)
  if (end === 'too_deep') return refuse(reader, end)
  if (end === undefined) return undefined
  reader.at = end
  return nothing
}

function readString(reader: Reader): string | undefined {
  const { text } = reader
  const start = reader.at
  let escaped = false
  let at = start + 1
  for (; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === code.quote) break
    if (character < code.space) return undefined
    if (character === code.backslash) {
      escaped = true
      at += 1
    }
  }
  if (at >= text.length) return undefined
  reader.at = at + 1
  return escaped ? unescapeString(text.slice(start, at + 1)) : text.slice(start + 1, at)
}

/** A quoted string with escapes: `JSON.parse` is used only to decode them. */
function unescapeString(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}

const numberGrammar = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

function readNumber(reader: Reader): JsonValue | undefined {
  numberGrammar.lastIndex = reader.at
  const number = numberGrammar.exec(reader.text)?.[0]
  if (number === undefined) return undefined
  reader.at += number.length
  return { number }
}

function readWord<T>(reader: Reader, word: string, value: T): T | undefined {
  if (!reader.text.startsWith(word, reader.at)) return undefined
  reader.at += word.length
  return value
}

function take(reader: Reader, character: number): boolean {
  if (reader.text.charCodeAt(reader.at) !== character) return false
  reader.at += 1
  return true
}

function skipSpace(reader: Reader): void {
  const { text } = reader
  let { at } = reader
  while (isSpace(text.charCodeAt(at))) at += 1
  reader.at = at
}

function isSpace(character: number): boolean {
  if (character > code.space) return false
  return (
    character === code.space ||
    character === code.newLine ||
    character === code.carriageReturn ||
    character === code.tab
  )
}

function refuse(reader: Reader, failure: JsonFailure): undefined {
  reader.failure = failure
  return undefined
}
