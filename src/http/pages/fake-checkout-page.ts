import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { standingsOf } from '../../billing/standings-of.ts'
import type { BillingCore } from '../../billing/types.ts'
import { type TestCard, isTestCard } from '../../gateways/fake/test-card.ts'
import type { Payment } from '../../payments/payment.ts'
import type { StandingState } from '../../payments/standing.ts'
import { readBody } from '../read-body.ts'
import { badRequest, onlyAllow, respond } from '../respond.ts'
import type { Language } from './language.ts'
import { type Html, page, seeOther } from './layout.ts'
import { type Look, lookOf } from './look.ts'
import { type ShownPayment, returnPath } from './page-context.ts'
import { deadEnd, help, paymentBody, wayBack } from './payment-view.ts'

/** Sends a request through the whole app: the buttons use the real webhook route. */
export type Dispatch = (request: Request) => Response | Promise<Response>

const driver = 'fake'
const largestFormBytes = 1024

/**
 * `/billing/fake/checkout/{payment}`: a checkout to try things with, of the fake gateway and of all
 * its accounts. It exists only while the payment's own takes callbacks, which in production needs
 * an explicit switch. A button leads on to where every checkout does.
 */
export function fakeCheckoutPage(core: BillingCore, dispatch: Dispatch): Hono {
  const app = new Hono()
  app.get('/:payment', async (c) => {
    const payment = await payable(core, c.req.param('payment'))
    const look = lookOf(core, c, payment)
    if (payment === undefined) return noCheckoutPage(look)
    const standing = (await standingsOf(core, [payment]))(payment)
    return checkoutPage({ payment, standing }, refusalIn(c.req.query('answer')), look)
  })
  app.post('/:payment', async (c) => {
    const payment = await payable(core, c.req.param('payment'))
    const look = lookOf(core, c, payment)
    if (payment === undefined) return noCheckoutPage(look)
    const chosen = await readChosen(c)
    if (chosen === undefined) return respond(badRequest)
    const answer = await dispatch(callback(core, payment, chosen))
    const { query } = look.language
    if (answer.ok) return seeOther(returnPath(payment.id) + query)
    return seeOther(`${c.req.path}${query === '' ? '?' : `${query}&`}answer=${answer.status}`)
  })
  app.all('/:payment', onlyAllow('GET, HEAD, POST'))
  return app
}

async function payable(core: BillingCore, id: string): Promise<Payment | undefined> {
  const open = Object.values(core.gateways()).filter(
    (gateway) => gateway.driver === driver && gateway.configured,
  )
  if (open.length === 0) return undefined
  const payment = await core.payments.get(id)
  if (payment?.type !== 'charge') return undefined
  return open.some(({ name }) => name === payment.gateway) ? payment : undefined
}

interface Chosen {
  readonly result: 'success' | 'failure'
  /** What is saved, of a payment that saves a card. */
  readonly card: TestCard
}

async function readChosen(c: Context): Promise<Chosen | undefined> {
  const read = await readBody(c, largestFormBytes)
  if (read.kind !== 'read') return undefined
  const fields = new URLSearchParams(Buffer.from(read.bytes).toString())
  const [result, card] = [fields.get('result'), fields.get('card') ?? 'good']
  if ((result !== 'success' && result !== 'failure') || !isTestCard(card)) return undefined
  return { result, card }
}

function callback(core: BillingCore, payment: Payment, { result, card }: Chosen): Request {
  return new Request(core.url('billing.webhook', { gateway: payment.gateway }), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      payment_id: payment.id,
      result,
      ...(payment.saveCard && result === 'success' && { card }),
    }),
  })
}

/** The status with which the webhook route did not take a button's callback. */
function refusalIn(answer: string | undefined): string | undefined {
  return answer !== undefined && /^[45]\d\d$/.test(answer) ? answer : undefined
}

const statusWords = {
  pending: 'statusPending',
  paid: 'statusPaid',
  failed: 'statusFailed',
  canceled: 'statusCanceled',
  partly_refunded: 'partlyRefundedHeading',
  refunded: 'refundedHeading',
  disputed: 'disputedHeading',
} as const satisfies Readonly<Record<StandingState, string>>

/**
 * The checkout of a payment: what it is for, its status, and what can be done. `refusal` is the
 * status with which the webhook route has refused a button's callback.
 */
function checkoutPage(
  { payment, standing: { state } }: ShownPayment,
  refusal: string | undefined,
  look: Look,
): Promise<Response> {
  const { status } = payment
  const { say } = look.language
  const word = say(statusWords[state])
  const notice =
    refusal !== undefined &&
    html`<p>${say('testRefused', { status: refusal })}</p>
      ${help(look)}`
  const body = paymentBody(payment, look, {
    head: html`<h1>${say('testHeading')}</h1>`,
    next: html`<dl>
        <dt>${say('status')}</dt>
        <dd class="status ${state}">${word}</dd>
      </dl>
      <div role="status">${notice}</div>
      ${buttons(payment, look.language)}
      <div class="actions">${wayBack(payment, look, status === 'paid')}</div>`,
  })
  return page(look, {
    title: say('testTitle', { status: word }),
    mark: 'small',
    body: html`${body}
      <footer>${say('testFooter')}</footer>`,
    policy: { 'form-action': ["'self'"] },
  })
}

function noCheckoutPage(look: Look): Promise<Response> {
  const { say } = look.language
  return deadEnd(look, { status: 404, title: say('unknownHeading'), text: say('testUnknownText') })
}

/** A paid payment never changes again; a declined one can still be paid. */
function buttons({ status, saveCard }: Payment, { say }: Language): Html | false {
  if (status === 'paid') return false
  const decline = html`<button name="result" value="failure">${say('decline')}</button>`
  return html`<form method="post">
    ${saveCard && cards(say)}
    <button class="go" name="result" value="success">${say('pay')}</button>
    ${status === 'pending' && decline}
  </form>`
}

/** Those with which there is something to see; each ends every later charge in its way. */
const offeredCards = {
  good: 'testCardGood',
  soft: 'testCardSoft',
  hard: 'testCardHard',
  confirm: 'testCardConfirm',
} as const satisfies Partial<Record<TestCard, string>>

function cards(say: Language['say']): Html {
  const options = Object.entries(offeredCards).map(
    ([card, text]) => html`<option value="${card}">${say(text)}</option>`,
  )
  return html`<label class="field">
    <span>${say('testCard')}</span>
    <select name="card">
      ${options}
    </select>
  </label>`
}
