import { Hono } from 'hono'
import { html } from 'hono/html'
import { gatewayTitleOf } from '../../billing/known-gateway.ts'
import { readUuid } from '../../kernel/uuid.ts'
import type { PaymentStatus } from '../../payments/payment.ts'
import { readBody } from '../read-body.ts'
import { onlyAllow } from '../respond.ts'
import type { SendSignal } from './browser-signals.ts'
import { page, seeOther } from './layout.ts'
import { type Look, lookOf } from './look.ts'
import { type PageContext, type ShownPayment, isPayable, returnPath } from './page-context.ts'
import {
  help,
  news,
  payButton,
  paymentBody,
  takenBackWords,
  unknownPaymentPage,
  wayBack,
} from './payment-view.ts'
import { followStatus } from './scripts.ts'
import { statusStreams } from './status-stream.ts'

/** Larger bodies than any provider posts are not even discarded. */
const mostDiscardedBytes = 64 * 1024

/**
 * `/billing/return/{payment}`: where a browser comes back to. It shows how the payment stands and
 * changes nothing: what the browser brings along is ignored, whoever signed it.
 */
export function returnPage(context: PageContext, signal: SendSignal): Hono {
  const { core, now } = context
  const app = new Hono()
  app.get('/:payment', async (c) => {
    const found = await context.findCharge(c.req.param('payment'))
    const look = lookOf(core, c, found?.payment)
    if (found === undefined) return unknownPaymentPage(look)
    const { payment } = found
    if (c.req.method === 'GET') signal('CheckoutReturned', payment)
    const gateway = gatewayTitleOf(core, payment.gateway)
    return returnView(found, { canPay: isPayable(payment, now()), gateway }, look)
  })
  // Some providers post their fields here; a page loaded by GET can be reloaded.
  app.post('/:payment', async (c) => {
    const id = readUuid(c.req.param('payment'))
    await readBody(c, mostDiscardedBytes)
    const look = lookOf(core, c)
    if (id === undefined) return unknownPaymentPage(look)
    return seeOther(returnPath(id) + look.language.query)
  })
  app.all('/:payment', onlyAllow('GET, HEAD, POST'))
  app.get('/:payment/status', statusStreams(context))
  app.all('/:payment/status', onlyAllow('GET, HEAD'))
  return app
}

interface Surroundings {
  /** Whether the checkout still takes money. */
  readonly canPay: boolean
  readonly gateway: string
}

/** How a payment stands; unless it is paid, the page updates when that changes. */
function returnView(
  found: ShownPayment,
  surroundings: Surroundings,
  look: Look,
): Promise<Response> {
  const { payment, standing } = found
  const { status } = payment
  const { heading, text } = takenBackWords(found, look) ?? wordsFor(status, surroundings, look)
  const retry =
    status === 'failed' &&
    surroundings.canPay &&
    payButton(payment, look, look.language.say('tryAgain'))
  const isOver = status === 'paid' || status === 'canceled'
  const isWrong = standing.state !== 'paid' && status !== 'pending'
  const back = wayBack(payment, look, isOver)
  const bar = html`<div class="bar"></div>`
  const body = paymentBody(payment, look, {
    head: news(heading, text, status === 'pending' ? bar : undefined),
    next: html`<div id="next" class="actions">${retry}${back}${isWrong && help(look)}</div>`,
  })
  const shown = { title: heading, mark: standing.state, body }
  if (status === 'paid') return page(look, shown)
  return page(look, {
    ...shown,
    data: { status, stream: `${returnPath(payment.id)}/status` },
    scripts: [followStatus.path],
    refreshSeconds: status === 'pending' ? 3 : 10,
    policy: { 'script-src': ["'self'"], 'connect-src': ["'self'"] },
  })
}

const keys = {
  pending: { heading: 'waitingHeading', text: 'waitingText' },
  paid: { heading: 'paidHeading', text: 'paidText' },
  failed: { heading: 'failedHeading', text: 'failedText' },
  canceled: { heading: 'canceledHeading', text: 'canceledText' },
} as const satisfies Readonly<Record<PaymentStatus, object>>

function wordsFor(status: PaymentStatus, { canPay, gateway }: Surroundings, { language }: Look) {
  const { heading, text } = keys[status]
  return {
    heading: language.say(heading),
    text: language.say(status === 'failed' && canPay ? 'failedRetryText' : text, {
      gateway,
    }),
  }
}
