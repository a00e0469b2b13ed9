import { Hono, type Context } from 'hono'
import type { ZodType } from 'zod'
import type { BillingCore } from '../billing/types.ts'
import { assertNever, QuittanceError } from '../kernel/errors.ts'
import { isUuid } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Secret } from '../kernel/secret.ts'
import { apiError, refuse } from './api-errors.ts'
import {
  callsQuery,
  check,
  createPaymentBody,
  eventsQuery,
  paymentsQuery,
  readQuery,
} from './api-input.ts'
import { readBody } from './read-body.ts'
import { requireToken } from './require-token.ts'
import { json, onlyAllow } from './respond.ts'
import {
  callDetailsView,
  callView,
  eventView,
  gatewayView,
  pageView,
  paymentDetailsView,
  paymentView,
} from './wire.ts'

export interface ManagementApiOptions {
  readonly apiToken: Secret
  readonly log: Log
}

const largestBodyBytes = 64 * 1024

/** `/billing/api`: what a merchant's server and an operator's script work with. */
export function managementApi(core: BillingCore, options: ManagementApiOptions): Hono {
  const api = new Hono()
  api.onError((error) => apiError(error, options.log))
  api.use(requireToken(options.apiToken))
  paymentRoutes(api, core)
  callRoutes(api, core)
  api.get('/events', async (c) => {
    const { payment_id: paymentId, ...query } = queryOf(c, eventsQuery)
    const page = await core.events.list(defined({ ...query, paymentId }))
    return json(200, pageView(page, eventView))
  })
  api.get('/gateways', () => {
    const views = Object.entries(core.gateways()).map(([name, it]) => [name, gatewayView(it)])
    return json(200, Object.fromEntries(views))
  })
  for (const path of ['/events', '/gateways']) api.all(path, onlyAllow('GET, HEAD'))
  return api
}

function paymentRoutes(api: Hono, core: BillingCore): void {
  api.post('/payments', async (c) => {
    const checked = check(createPaymentBody, await readJson(c))
    if (!checked.ok) throw new QuittanceError('payment_invalid', checked.message)
    const {
      return_url: returnUrl,
      merchant_account: merchantAccount,
      checkout_reference: checkoutReference,
      provider_reference: providerReference,
      ...same
    } = checked.value
    const named = { returnUrl, merchantAccount, checkoutReference, providerReference }
    return json(201, paymentView(await core.payments.create(defined({ ...same, ...named }))))
  })
  api.get('/payments', async (c) => {
    const query = canonical(core, queryOf(c, paymentsQuery))
    return json(200, pageView(await core.payments.list(query), paymentView))
  })
  api.get('/payments/:id', async (c) => {
    const id = c.req.param('id')
    const payment = await core.payments.get(id)
    if (payment === undefined) {
      throw new QuittanceError('payment_not_found', 'there is no payment with this id')
    }
    return json(200, paymentDetailsView(payment))
  })
  api.all('/payments', onlyAllow('GET, HEAD, POST'))
  api.all('/payments/:id', onlyAllow('GET, HEAD'))
}

function callRoutes(api: Hono, core: BillingCore): void {
  api.get('/webhook-calls', async (c) => {
    const { payment_id: paymentId, needs_review: needsReview, ...query } = queryOf(c, callsQuery)
    const page = await core.calls.list(canonical(core, { ...query, paymentId, needsReview }))
    return json(200, pageView(page, callView))
  })
  api.get('/webhook-calls/:id', async (c) => {
    const id = c.req.param('id')
    const call = await core.calls.get(id)
    if (call === undefined) throw noSuchCall()
    return json(200, callDetailsView(call))
  })
  api.post('/webhook-calls/:id/replay', async (c) => {
    const id = c.req.param('id')
    if (!isUuid(id)) throw noSuchCall()
    await core.calls.replay(id)
    return json(202, { message: 'the call is queued again' })
  })
  api.all('/webhook-calls', onlyAllow('GET, HEAD'))
  api.all('/webhook-calls/:id', onlyAllow('GET, HEAD'))
  api.all('/webhook-calls/:id/replay', onlyAllow('POST'))
}

function noSuchCall(): QuittanceError {
  return new QuittanceError('call_not_found', 'there is no webhook call with this id')
}

function queryOf<T>(c: Context, schema: ZodType<T>): T {
  const query = readQuery(new URL(c.req.url).searchParams)
  if (query === undefined) throw refuse('a query parameter is given twice')
  const checked = check(schema, query)
  if (!checked.ok) throw refuse(checked.message)
  return checked.value
}

/** Rows carry the canonical name; a caller may ask by an alias. */
function canonical<T extends { readonly gateway?: string | undefined }>(
  core: BillingCore,
  query: T,
) {
  const { gateway, ...rest } = query
  if (gateway === undefined) return defined(rest)
  const name = core.gatewayName(gateway)
  if (name === undefined) {
    throw new QuittanceError('gateway_unknown', `there is no gateway ${JSON.stringify(gateway)}`)
  }
  return defined({ ...rest, gateway: name })
}

type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> }

/** The same without the fields that are undefined. */
function defined<T extends object>(value: T): Defined<T> {
  const kept = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(kept) as Defined<T>
}

async function readJson(c: Context): Promise<unknown> {
  const read = await readBody(c, largestBodyBytes)
  switch (read.kind) {
    case 'read':
      return parseJson(read.bytes)
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

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw refuse('the body is not JSON')
  }
}
