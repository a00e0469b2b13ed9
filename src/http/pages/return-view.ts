import { html } from 'hono/html'
import type { PaymentStatus } from '../../payments/payment.ts'
import { page } from './layout.ts'
import type { Look } from './look.ts'
import { payPath, returnPath, type ShownPayment } from './page-context.ts'
import {
  help,
  linkButton,
  news,
  paymentDetails,
  summary,
  takenBackWords,
  wayBack,
} from './payment-view.ts'
import { followStatus } from './scripts.ts'

interface Surroundings {
  /** Whether the checkout still takes money. */
  readonly canPay: boolean
  readonly gatewayTitle: string
}

/** How a payment stands; unless it is paid, the page updates when that changes. */
export function returnView(
  found: ShownPayment,
  surroundings: Surroundings,
  look: Look,
): Promise<Response> {
  const { payment, standing } = found
  const { status } = payment
  const { language } = look
  const { heading, text } = takenBackWords(found, look) ?? wordsFor(status, surroundings, look)
  const retry =
    status === 'failed' &&
    surroundings.canPay &&
    linkButton(payPath(payment) + language.query, language.say('tryAgain'))
  const isOver = status === 'paid' || status === 'canceled'
  const isWrong = standing.state !== 'paid' && status !== 'pending'
  const back = wayBack(payment, look, isOver)
  const bar = html`<div class="bar"></div>`
  const body = html`${news(heading, text, status === 'pending' ? bar : undefined)}
    ${summary(payment, look)}
    <div id="next" class="actions">${retry}${back}${isWrong && help(look)}</div>
    ${paymentDetails(payment, look)}`
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

function wordsFor(
  status: PaymentStatus,
  { canPay, gatewayTitle }: Surroundings,
  { language }: Look,
) {
  const { heading, text } = keys[status]
  return {
    heading: language.say(heading),
    text: language.say(status === 'failed' && canPay ? 'failedRetryText' : text, {
      gateway: gatewayTitle,
    }),
  }
}
