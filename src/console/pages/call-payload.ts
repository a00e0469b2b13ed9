import { html } from 'hono/html'
import type { CallDetails } from '../../events/webhook-call.ts'
import { jsonTextOf } from '../../gateways/body/json-text.ts'
import { type JsonValue, isJsonObject } from '../../gateways/body/json.ts'
import { parseJson } from '../../gateways/body/parse-json.ts'
import type { Html } from '../../http/pages/layout.ts'
import { maskCardNumbers } from '../../intake/mask-card-data.ts'
import { assertNever } from '../../kernel/errors.ts'
import type { Visit } from '../context.ts'
import { chosenOf, withQuery } from '../parts/filters.ts'
import { shown, shownLines } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { number } from '../../kernel/figures.ts'

const forms = ['pretty', 'exact', 'fields', 'hex'] as const
type Form = (typeof forms)[number]

const formWords: Readonly<Record<Form, string>> = {
  pretty: 'Pretty',
  exact: 'Exact',
  fields: 'Fields',
  hex: 'Hex',
}

/** So many bytes, or characters, of a payload are on a page. */
export const mostShown = 64 * 1024
/** A byte in hex takes more than four characters. */
const mostInHex = 16 * 1024

/** What was received, in the form that the address asks for. */
export function payloadOf({ console, url }: Visit, call: CallDetails): Html {
  const form = chosenOf(url, 'as', forms) ?? 'pretty'
  const bytes = storedBytes(call)
  return html`<h2 id="payload">Payload</h2>
    ${call.bodyEncrypted && html`<p class="banner">${encrypted}</p>`}
    ${
      bytes === undefined
        ? html`<p class="panel">There is nothing to show of it here.</p>`
        : html`<nav class="tabs" aria-label="Forms of the payload">
              ${forms.map((one) => tab(url, one, form))}
            </nav>
            ${inForm(form, { call, bytes })}
            <p>
              <a class="button" href="${console.path}/calls/${call.id}/body" download
                >Download all ${number(bytes.byteLength)} bytes</a
              >
              <span class="soft">The audit records who does.</span>
            </p>`
    }`
}

const encrypted = html`The exact bytes are stored encrypted, because they carry card data or tokens,
or could not be read. The console does not decrypt them. What is shown here, if anything, is the
payload with those values masked.`

/** What is stored in the clear: the exact bytes, or the text that holds the same. */
export function storedBytes({ body, payload }: CallDetails): Uint8Array | undefined {
  if (body !== null) return body
  return payload === null ? undefined : Buffer.from(payload)
}

function tab(url: URL, one: Form, form: Form): Html {
  const href = `${withQuery(url, { as: one, done: undefined })}#payload`
  return html`<a href="${href}" ${one === form && html`aria-current="page"`}>${formWords[one]}</a>`
}

interface Stored {
  readonly call: CallDetails
  readonly bytes: Uint8Array
}

function inForm(form: Form, stored: Stored): Html {
  switch (form) {
    case 'pretty':
      return pretty(stored)
    case 'exact':
      return exact(stored.bytes)
    case 'fields':
      return fields(stored)
    case 'hex':
      return hex(stored.bytes)
    default:
      return assertNever(form)
  }
}

function pretty({ call: { payload }, bytes }: Stored): Html {
  if (payload === null) return exact(bytes)
  const { text, isWhole } = indented(maskCardNumbers(payload), mostShown)
  return html`<pre tabindex="0">${shownLines(text)}</pre>
    ${!isWhole && cutAt('64 kB', bytes)}`
}

function exact(bytes: Uint8Array): Html {
  // Masked before it is cut: a number could be cut in two.
  const text = maskCardNumbers(Buffer.from(bytes).toString()).slice(0, mostShown)
  return html`<pre tabindex="0">${shownLines(text)}</pre>
    ${bytes.byteLength > mostShown && cutAt('64 kB', bytes)}`
}

function hex(bytes: Uint8Array): Html {
  return html`<pre tabindex="0">${hexLines(bytes, mostInHex)}</pre>
    ${bytes.byteLength > mostInHex && cutAt('16 kB', bytes)}`
}

function cutAt(size: string, { byteLength }: Uint8Array): Html {
  return html`<p>
    These are the first ${size} of ${number(byteLength)} bytes. The download has all.
  </p>`
}

function fields({ call: { payload }, bytes }: Stored): Html {
  const found = payload === null ? undefined : fieldsIn(payload, mostShown)
  if (found === undefined) {
    return html`<p class="panel">It cannot be read as fields: look at it as Exact or Hex.</p>`
  }
  return html`${table({
    caption: 'Fields of the payload',
    columns: ['Field', 'Value'],
    rows: found.fields.map(({ path, value }) => [shown(path), shown(value)]),
    empty: 'It has no fields.',
  })}
  ${!found.isWhole && cutAt(`${found.fields.length} fields`, bytes)}`
}

const perLine = 16

/**
 * The first bytes, sixteen a line: where they are, each in hex, and as ASCII. Card numbers are masked in
 * both.
 */
function hexLines(bytes: Uint8Array, most: number): string {
  const shown = masked(bytes).subarray(0, most)
  const lines: string[] = []
  for (let at = 0; at < shown.byteLength; at += perLine) {
    const row = shown.subarray(at, at + perLine)
    const hex = Array.from(row, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const text = Array.from(row, (byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.',
    ).join('')
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(perLine * 3 - 1)}  ${text}`)
  }
  return lines.join('\n')
}

/** In latin1 each byte is a character, so what is not masked stays as it is. */
function masked(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1')
  return Buffer.from(maskCardNumbers(text), 'latin1')
}

/** A piece of a text that is cut where it gets too long. */
interface Piece {
  readonly text: string
  /** Whether nothing was left out. */
  readonly isWhole: boolean
}

/** A string, what opens, closes or parts, or a run of anything else but white space. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\],:]|[^\s"{}[\],:]+/sy
/** Deeper, the lines would be nothing but blanks. */
const deepest = 40

/**
 * A JSON text with a line for each member; each string and number stays as it is written. It need not
 * be valid: nothing is refused. Work and result are bounded by `most` characters.
 */
function indented(text: string, most: number): Piece {
  const source = text.slice(0, most)
  const pieces: string[] = []
  let [length, depth, at] = [0, 0, 0]
  const add = (piece: string) => {
    pieces.push(piece)
    length += piece.length
  }
  const newLine = () => add(`\n${'  '.repeat(Math.min(depth, deepest))}`)
  while (length < most) {
    at += blanksAt(source, at)
    token.lastIndex = at
    const [found] = token.exec(source) ?? []
    if (found === undefined) break
    at += found.length
    if (found === '{' || found === '[') {
      add(found)
      const close = at + blanksAt(source, at)
      if (source[close] === (found === '{' ? '}' : ']')) {
        add(source[close] ?? '')
        at = close + 1
        continue
      }
      depth += 1
      newLine()
    } else if (found === '}' || found === ']') {
      depth = Math.max(0, depth - 1)
      newLine()
      add(found)
    } else if (found === ',') {
      add(found)
      newLine()
    } else add(found === ':' ? ': ' : found)
  }
  const isWhole = source.length === text.length && at + blanksAt(source, at) >= source.length
  return { text: pieces.join('').slice(0, most), isWhole: isWhole && length <= most }
}

function blanksAt(text: string, at: number): number {
  let end = at
  while (/\s/.test(text.charAt(end)) && end < text.length) end += 1
  return end - at
}

interface Field {
  /** `data.object.amount`, `items[0].name`. */
  readonly path: string
  readonly value: string
}

interface Fields {
  readonly fields: readonly Field[]
  /** Whether none was left out. */
  readonly isWhole: boolean
}

const mostFields = 500

/** The fields of a JSON text, by their paths; undefined if it cannot be read, or has none. */
function fieldsIn(text: string, mostCharacters: number): Fields | undefined {
  const parsed = parseJson(text)
  if (!parsed.ok) return undefined
  const fields: Field[] = []
  let length = 0
  const isFull = () => fields.length >= mostFields || length >= mostCharacters
  const walk = (path: string, value: JsonValue): boolean => {
    const inner = membersOf(path, value)
    if (inner !== undefined) return inner.every(([name, member]) => walk(name, member))
    if (isFull()) return false
    const found = { path: path === '' ? '(all)' : path, value: textOf(value) }
    fields.push(found)
    length += found.path.length + found.value.length
    return true
  }
  const isWhole = walk('', parsed.value)
  return { fields, isWhole }
}

/** Undefined: it is a value, or empty. */
function membersOf(
  path: string,
  value: JsonValue,
): readonly (readonly [string, JsonValue])[] | undefined {
  if (isJsonObject(value)) {
    if (value.size === 0) return undefined
    const prefix = path === '' ? '' : `${path}.`
    return Array.from(value, ([name, member]) => [prefix + name, member] as const)
  }
  if (!isList(value) || value.length === 0) return undefined
  return value.map((item, at) => [`${path}[${at}]`, item] as const)
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  // What has members is no field of its own: these are empty.
  return jsonTextOf(value)
}
