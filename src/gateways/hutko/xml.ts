import { createRequire } from 'node:module'
import type * as FastXmlParser from 'fast-xml-parser'
import { mostFields } from '../body/parse-form.ts'
import { parseFormBody } from '../body/parse-form-body.ts'
import { unreadable, type Payload } from '../body/payload.ts'

/** Many times a callback's length: anyone may send XML, and reading it costs far more than JSON. */
const longestDocument = 64 * 1024
/** Those of the root and of the fields of a form; a document with more is not parsed. */
const mostTags = 2 * (mostFields + 1)

const declaration = /^<\?xml version="1\.0"(?: encoding="[Uu][Tt][Ff]-8")?\s*\?>/

/** A tag is a plain name: no attributes, and so no namespaces and no references to anything. */
const tag = /<\/?[A-Za-z_][A-Za-z0-9_]*\/?>/g
const entity = /&(?:amp|lt|gt|quot|apos);/g

/**
 * Reads `<response>` with one level of elements that hold text, as form fields. All other XML is
 * refused before a parser sees it: document types, custom entities, CDATA, comments, processing
 * instructions, attributes. Never throws.
 */
export function readXml(text: string): Payload {
  if (text.length > longestDocument) return unreadable('invalid_form')
  const document = text.trim().replace(declaration, '')
  if (document.split('<', mostTags + 2).length > mostTags + 1) return unreadable('too_many_fields')
  const rest = document.replaceAll(tag, '').replaceAll(entity, '')
  if (rest.includes('<') || rest.includes('&')) return unreadable('invalid_form')
  const fields = fieldsOf(parse(document))
  if (fields === undefined) return unreadable('invalid_form')
  return parseFormBody(Buffer.from(new URLSearchParams(fields).toString()))
}

const require = createRequire(import.meta.url)

function parse(document: string): unknown {
  // Loaded with the first XML: few brands still send it, and the start should not wait for it.
  const { XMLParser } = require('fast-xml-parser') as typeof FastXmlParser
  try {
    return new XMLParser({ parseTagValue: false, trimValues: false }).parse(document, true)
  } catch {
    return undefined
  }
}

/** A name that appears twice comes as a list, a nested element as an object: neither is a text. */
function fieldsOf(parsed: unknown): [string, string][] | undefined {
  const roots = entriesOf(parsed)
  const [root] = roots
  if (root === undefined || roots.length > 1 || root[0] !== 'response') return undefined
  const fields: [string, string][] = []
  for (const [name, value] of entriesOf(root[1])) {
    if (typeof value !== 'string') return undefined
    if (name !== '#text') fields.push([name, value])
    else if (value.trim() !== '') return undefined
  }
  return fields
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}
