import type { Context } from 'hono'
import type { ZodType } from 'zod'
import { knownGateway } from '../../billing/known-gateway.ts'
import type { BillingCore } from '../../billing/types.ts'
import { parseJson } from '../../gateways/body/parse-json.ts'
import type { PageQuery } from '../../database/page.ts'
import { assertNever } from '../../kernel/errors.ts'
import { snakeCase } from '../../kernel/field-names.ts'
import type { Filters, FilterValues } from '../../kernel/noun.ts'
import { refuse, refuseInput } from './errors.ts'
import { check, repeatedName } from './queries.ts'
import { readBody } from '../read-body.ts'

const largestBodyBytes = 64 * 1024

/** The query parameters; 400 if they do not fit the schema. */
export function queryOf<T>(c: Context, schema: ZodType<T>): T {
  const { searchParams } = new URL(c.req.url)
  const twice = repeatedName(searchParams)
  if (twice !== undefined) {
    throw refuseInput({ field: twice, message: 'a query parameter is given twice' })
  }
  const checked = check(schema, Object.fromEntries(searchParams))
  if (!checked.ok) throw refuseInput(checked)
  return checked.value
}

/** Rows carry the canonical name; a caller may ask by an alias. Error: `gateway_unknown`. */
export function canonical<T extends { readonly gateway?: string | undefined }>(
  core: BillingCore,
  query: T,
) {
  const { gateway, ...rest } = query
  if (gateway === undefined) return defined(rest)
  return defined({ ...rest, gateway: knownGateway(core, gateway) })
}

/** The query of a list in the names of the library, with the canonical name of its gateway. */
export function listQueryOf<F extends Filters>(
  core: BillingCore,
  filters: F,
  asked: object,
): PageQuery & FilterValues<F> {
  const given = new Map<string, unknown>(Object.entries(asked))
  const names = ['limit', 'cursor', ...Object.keys(filters)]
  const query = Object.fromEntries(names.map((name) => [name, given.get(snakeCase(name))]))
  return canonical(core, query) as PageQuery & FilterValues<F>
}

type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> }

/** The same without the fields that are undefined. */
export function defined<T extends object>(value: T): Defined<T> {
  const kept = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(kept) as Defined<T>
}

/** The body as JSON; 400 if it is not JSON. */
export async function readJson(c: Context, mostBytes = largestBodyBytes): Promise<unknown> {
  return jsonOf(await readBytes(c, mostBytes))
}

/** The same if all fields may be left out: then no body is needed either. */
export async function readOptionalJson(c: Context, mostBytes = largestBodyBytes): Promise<unknown> {
  const bytes = await readBytes(c, mostBytes)
  return bytes.byteLength === 0 ? {} : jsonOf(bytes)
}

async function readBytes(c: Context, mostBytes: number): Promise<Uint8Array> {
  const read = await readBody(c, mostBytes)
  switch (read.kind) {
    case 'read':
      return read.bytes
    case 'too_large':
      throw refuse('body too large', 413)
    case 'cut_short':
      throw refuse('bad request')
    case 'consumed':
      throw new Error('the body was read before it got here: move the body parser after the mount')
    default:
      return assertNever(read)
  }
}

/** Anything that two readers could read differently is refused, such as a key given twice. */
function jsonOf(bytes: Uint8Array): unknown {
  const text = textOf(bytes)
  const parsed = parseJson(text)
  if (parsed.ok) return JSON.parse(text)
  const { reason, key } = parsed
  if (key !== undefined) throw refuse(`the key ${JSON.stringify(key.slice(0, 80))} is given twice`)
  throw refuse(reason === 'too_deep' ? 'the body is nested too deep' : 'the body is not JSON')
}

/** Bytes that are not text have no text, which is not JSON either. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return ''
  }
}
