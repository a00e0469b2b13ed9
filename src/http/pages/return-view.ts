import { html } from 'hono/html'
import type { Payment, PaymentStatus } from '../../payments/payment.ts'
import { page } from './layout.ts'
import { payPath, returnPath } from './page-context.ts'
import { linkButton, news, summary, wayBack } from './payment-view.ts'
import { followStatus } from './scripts.ts'

interface Standing {
  /** Whether the checkout still takes money. */
  readonly canPay: boolean
  readonly gatewayTitle: string
  readonly allows: (url: string) => boolean
}

/** How a payment stands; unless it is paid, the page updates when that changes. */
export function returnView(payment: Payment, standing: Standing): Promise<Response> {
  const { status } = payment
  const { heading, text } = wordsFor(payment, standing)
  const retry = status === 'failed' && standing.canPay && linkButton(payPath(payment), 'Try again')
  const isOver = status === 'paid' || status === 'canceled'
  const back = wayBack(payment, { allows: standing.allows, isMain: isOver })
  const bar = html`<div class="bar"></div>`
  const body = html`${news(heading, text, status === 'pending' ? bar : undefined)}
    ${summary(payment)}
    <div id="next" class="actions">${retry}${back}</div>`
  const shown = { title: heading, mark: status, body }
  if (status === 'paid') return page(shown)
  return page({
    ...shown,
    data: { status, stream: `${returnPath(payment.id)}/status` },
    scripts: [followStatus.path],
    refreshSeconds: status === 'pending' ? 3 : 10,
    policy: { 'script-src': ["'self'"], 'connect-src': ["'self'"] },
  })
}

interface Words {
  readonly heading: string
  readonly text: string
}

const words: Readonly<Record<Exclude<PaymentStatus, 'pending'>, Words>> = {
  paid: { heading: 'Paid', text: 'Thank you. The payment is confirmed.' },
  failed: { heading: 'Payment declined', text: 'This payment was not accepted.' },
  canceled: { heading: 'Payment canceled', text: 'This payment was canceled.' },
}

function wordsFor({ status }: Payment, { canPay, gatewayTitle }: Standing): Words {
  if (status === 'pending') {
    const text = `${gatewayTitle} has not confirmed the payment yet. This page updates by itself when it does.`
    return { heading: 'Waiting for confirmation', text }
  }
  if (status !== 'failed' || !canPay) return words[status]
  const { heading, text } = words.failed
  return { heading, text: `${text} You can try again, with another card if you like.` }
}
