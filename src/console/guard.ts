import type { Context } from 'hono'
import { printableName } from '../http/operator-name.ts'
import { isOperator } from '../http/require-operator.ts'
import { readBody } from '../http/read-body.ts'
import {
  browserKey,
  isFormToken,
  isOverTls,
  newBrowserKey,
  setBrowserKey,
  type Served,
} from './browser-key.ts'
import type { ConsoleContext, Visitor } from './context.ts'
import { hostOf } from './hosts.ts'

/** Why a request is not answered as asked. */
export type Refusal =
  /** Another name that leads here: a page of another site may have been made to ask us by it. */
  | 'other_host'
  | 'not_a_form'
  | 'other_site'
  | 'form_too_large'
  /** Cut short on its way, or read by something before us. */
  | 'form_lost'
  /** The form is of another browser, or its session has ended. */
  | 'form_outdated'
  | 'nobody'

/** Who asks; a `Response` of the app's own guard; undefined: nobody that we know. */
export async function visitorOf(
  c: Context,
  context: ConsoleContext,
): Promise<Visitor | Response | undefined> {
  const { access } = context
  if (access.kind === 'app') return appVisitor(c, context, access.authenticate)
  const key = browserKey(c, context)
  const session = key === undefined ? undefined : await access.sessions.find(key, !isRefresh(c))
  if (key === undefined || session === undefined) return undefined
  const { operator: name, role, isProved } = session
  return { name, role, key, session: { id: key, isProved } }
}

/** A page that asks for itself again says so: nobody need sit in front of it. */
export function isRefresh(c: Context): boolean {
  return c.req.header('x-quittance-refresh') !== undefined
}

async function appVisitor(
  c: Context,
  context: ConsoleContext,
  authenticate: Extract<ConsoleContext['access'], { kind: 'app' }>['authenticate'],
): Promise<Visitor | Response | undefined> {
  const { url, method, headers } = c.req.raw
  // The body is ours to read.
  const found: unknown = await authenticate(new Request(url, { method, headers }), c.env)
  if (found instanceof Response) return found
  // What is not typed may say no in other words: null, false.
  if (!found) return undefined
  if (!isOperator(found)) throw new TypeError('authenticate must answer { name, role }')
  const { name, role } = found
  return { name: printableName(name), role, key: keyOfBrowser(c, context), session: undefined }
}

function keyOfBrowser(c: Context, context: ConsoleContext): string {
  const known = browserKey(c, context)
  if (known !== undefined) return known
  const key = newBrowserKey()
  setBrowserKey(c, context, key)
  return key
}

/** Larger than any form of ours. */
const largestForm = 64 * 1024

export type ReadForm =
  | { readonly kind: 'read'; readonly form: URLSearchParams }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/**
 * The form that a page of ours has posted. Browsers say where it comes from; over plain HTTP some
 * say only the origin, and never "null" for a page of ours.
 */
export async function readForm(c: Context, context: Served): Promise<ReadForm> {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') return refused('not_a_form')
  if (!isOwnSite(c, context)) return refused('other_site')
  const read = await readBody(c, largestForm)
  if (read.kind === 'too_large') return refused('form_too_large')
  if (read.kind !== 'read') return refused('form_lost')
  return { kind: 'read', form: new URLSearchParams(Buffer.from(read.bytes).toString()) }
}

function isOwnSite(c: Context, context: Served): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = URL.parse(c.req.header('origin') ?? '')
  // The host has been found to be ours.
  if (origin?.host !== hostOf(c)) return false
  // Behind a proxy we may not hear that it is TLS; a page over TLS is of the same host all the same.
  return origin.protocol === 'https:' || (origin.protocol === 'http:' && !isOverTls(c, context))
}

/** Whether the form was made for this browser. */
export function isOwnForm(form: URLSearchParams, { key }: Visitor): boolean {
  return isFormToken(form.get('form_token') ?? '', key)
}

function refused(refusal: Refusal): ReadForm {
  return { kind: 'refused', refusal }
}
