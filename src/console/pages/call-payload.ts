import { html } from 'hono/html'
import type { CallDetails } from '../../events/webhook-call.ts'
import type { Html } from '../../http/pages/layout.ts'
import { number } from '../parts/values.ts'
import { assertNever } from '../../kernel/errors.ts'
import { maskCardNumbers } from '../../intake/mask-card-data.ts'
import type { Visit } from '../context.ts'
import { fieldsIn } from '../parts/fields-in.ts'
import { chosenOf, withQuery } from '../parts/filters.ts'
import { hexLines } from '../parts/hex-lines.ts'
import { indented } from '../parts/indented.ts'
import { shown, shownLines } from '../parts/shown.ts'
import { table } from '../parts/table.ts'

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
