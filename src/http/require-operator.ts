import type { Context, MiddlewareHandler } from 'hono'
import type { Authenticate, Operator } from '../billing/authenticate.ts'
import { message } from '../intake/responses.ts'
import { hasFields } from '../kernel/has-fields.ts'
import { markOperator } from './operator-name.ts'
import { markReader } from './reader.ts'
import { respond } from './respond.ts'
import { isSameOrigin } from './same-origin.ts'

const nobody = message(403, 'forbidden')
const readOnly = message(403, 'a viewer may only read')
const noMethod = message(405, 'method not allowed')
const crossSite = message(403, 'a change needs a bearer token, or a page of the same origin')

/**
 * Lets only those through whom the app's own guard knows; a viewer only reads. Browsers send
 * cookies along with what other sites ask for, so a change without a bearer token must come from a
 * page of the same origin. What the guard throws answers 500.
 */
export function requireOperator(authenticate: Authenticate, origin: string): MiddlewareHandler {
  return async (c, next) => {
    // No `Request` for a guard can be made of it.
    if (c.req.method === 'TRACE') return respond(noMethod)
    const reads = c.req.method === 'GET' || c.req.method === 'HEAD'
    if (!reads && !hasBearer(c) && !isSameOrigin(c, origin)) return respond(crossSite)
    const found: unknown = await authenticate(headOf(c.req.raw), c.env)
    if (found instanceof Response) return found
    // What is not typed may say no in other words: null, false.
    if (!found) return respond(nobody)
    if (!isOperator(found)) throw new TypeError('authenticate must answer { name, role }')
    if (!reads && found.role !== 'operator') return respond(readOnly)
    if (found.role !== 'operator') markReader(c)
    markOperator(c, found.name)
    return next()
  }
}

/** The body is ours to read. */
function headOf({ url, method, headers }: Request): Request {
  return new Request(url, { method, headers })
}

/** No other site can make a browser send one unasked. */
function hasBearer(c: Context): boolean {
  return /^bearer +\S+$/i.test(c.req.header('authorization') ?? '')
}

/** What an app's guard answers may be anything. */
export function isOperator(found: unknown): found is Operator {
  if (!hasFields(found)) return false
  const { name, role } = found as Partial<Record<keyof Operator, unknown>>
  return typeof name === 'string' && name !== '' && (role === 'viewer' || role === 'operator')
}
