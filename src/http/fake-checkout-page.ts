import { Hono, type Context } from 'hono'
import type { BillingCore } from '../billing/types.ts'
import { isUuid } from '../kernel/ids.ts'
import { paymentStatuses, type Payment, type PaymentStatus } from '../payments/payment.ts'
import { checkoutPage, noCheckoutPage, type Notice } from './fake-checkout-view.ts'
import { readBody } from './read-body.ts'
import { badRequest, onlyAllow, respond, safeHeaders } from './respond.ts'

/** Sends a request through the whole app: the buttons use the real webhook route. */
export type Dispatch = (request: Request) => Response | Promise<Response>

const gateway = 'fake'
const largestFormBytes = 1024
/** Seconds that the page looks for the result before it says that nobody seems to work. */
const patience = 10

/**
 * `/billing/fake/checkout/{payment}`: a gateway's checkout to try things with. It exists only
 * while the fake gateway takes callbacks, which in production needs an explicit switch.
 */
export function fakeCheckoutPage(core: BillingCore, dispatch: Dispatch): Hono {
  const app = new Hono()
  app.get('/:payment', async (c) => {
    const payment = await payable(core, c.req.param('payment'))
    if (payment === undefined) return noCheckoutPage()
    return checkoutPage(payment, noticeFor(payment, c))
  })
  app.post('/:payment', async (c) => {
    const payment = await payable(core, c.req.param('payment'))
    if (payment === undefined) return noCheckoutPage()
    const result = await chosenResult(c)
    if (result === undefined) return respond(badRequest)
    const answer = await dispatch(callback(core, payment, result))
    const query = answer.ok ? `waiting=${payment.status}&look=1` : `answer=${answer.status}`
    return new Response(null, {
      status: 303,
      headers: { location: `${c.req.path}?${query}`, ...safeHeaders },
    })
  })
  app.all('/:payment', onlyAllow('GET, HEAD, POST'))
  return app
}

async function payable(core: BillingCore, id: string): Promise<Payment | undefined> {
  if (core.gateways()[gateway]?.configured !== true || !isUuid(id)) return undefined
  const payment = await core.payments.get(id)
  return payment?.gateway === gateway && payment.type === 'charge' ? payment : undefined
}

async function chosenResult(c: Context): Promise<'success' | 'failure' | undefined> {
  const read = await readBody(c, largestFormBytes)
  if (read.kind !== 'read') return undefined
  const result = new URLSearchParams(Buffer.from(read.bytes).toString()).get('result')
  return result === 'success' || result === 'failure' ? result : undefined
}

function callback(core: BillingCore, payment: Payment, result: string): Request {
  return new Request(core.url('billing.webhook', { gateway }), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payment_id: payment.id, result }),
  })
}

/** The result comes from the queue a moment later: the page looks again until it is there. */
function noticeFor(payment: Payment, c: Context): Notice | undefined {
  const refused = c.req.query('answer')
  if (refused !== undefined && /^[45]\d\d$/.test(refused)) {
    return { text: `The webhook route answered ${refused}. The log says why.` }
  }
  const before = statusNamed(c.req.query('waiting'))
  if (before === undefined) return undefined
  if (payment.status !== before) return { text: results[payment.status] }
  const look = Number(c.req.query('look'))
  if (!(look >= 1 && look < patience)) {
    return { text: 'The callback is stored but not processed yet. Is a worker running?' }
  }
  const reload = `${c.req.path}?waiting=${before}&look=${Math.trunc(look) + 1}`
  return { text: 'The callback is accepted and waits to be processed…', reload }
}

const results: Readonly<Record<PaymentStatus, string>> = {
  pending: '',
  paid: 'The payment is settled.',
  failed: 'The payment was declined. It can still be paid.',
  canceled: 'The payment was canceled. It can still be paid.',
}

function statusNamed(text: string | undefined): PaymentStatus | undefined {
  return paymentStatuses.find((status) => status === text)
}
