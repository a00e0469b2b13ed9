import { createHash } from 'node:crypto'
import { html, raw } from 'hono/html'
import type { Payment, PaymentStatus } from '../payments/payment.ts'
import { humanMoney } from './human-money.ts'
import { safeHeaders } from './respond.ts'
import { visibleText } from './visible-text.ts'

/** What is to be said above the buttons, and the page to look at next while waiting. */
export interface Notice {
  readonly text: string
  readonly reload?: string
}

type Html = ReturnType<typeof html>

const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --paper: #fff; --ground: #eef1f5;
  --line: #d5dbe3; --go: #0b6b3a; --on-go: #fff; --paid: #0b6b3a; --failed: #a3261d;
  --pending: #7a5200; --focus: #1a5fd0 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf1; --soft: #a3adba; --paper: #1b212a;
  --ground: #11151b; --line: #343d49; --go: #57c98a; --on-go: #06210f; --paid: #57c98a;
  --failed: #ff9289; --pending: #f0c060; --focus: #8ab4ff } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 28rem; padding: 1.75rem; background: var(--paper);
  border: 1px solid var(--line); border-radius: .75rem }
h1 { margin: 0; font-size: 1rem; font-weight: 600; color: var(--soft) }
.amount { margin: .25rem 0 1.25rem; font-size: clamp(1.5rem, 8vw, 2.25rem); line-height: 1.2;
  font-weight: 700; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1rem; margin: 0 0 1.25rem;
  padding: 1rem 0; border: solid var(--line); border-width: 1px 0 }
dt { color: var(--soft) }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; overflow: hidden }
.id { font-size: .875rem; line-height: 1.7 }
.status { font-weight: 700 }
.paid { color: var(--paid) } .failed, .canceled { color: var(--failed) }
.pending { color: var(--pending) }
.notice { margin: 0 0 1.25rem }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0 }
button { flex: 1 1 8rem; min-height: 3rem; padding: .5rem 1rem; font: inherit; font-weight: 600;
  border: 1px solid var(--line); border-radius: .5rem; background: transparent; color: inherit;
  cursor: pointer }
button.go { background: var(--go); border-color: var(--go); color: var(--on-go) }
a { color: inherit }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px }
footer { margin-top: 1.25rem; font-size: .875rem; color: var(--soft) }
`

// In one piece: white space from a formatter inside the element would change its digest.
const styleElement = raw(`<style>${style}</style>`)

/** The page's only style, allowed by its digest: there is nothing else to load, and no script. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  'referrer-policy': 'no-referrer',
  ...safeHeaders,
}

const statusWords: Readonly<Record<PaymentStatus, string>> = {
  pending: 'Pending',
  paid: 'Paid',
  failed: 'Declined',
  canceled: 'Canceled',
}

/** The checkout of a payment: what it is for, how it stands, and what can be done. */
export async function checkoutPage(payment: Payment, notice?: Notice): Promise<Response> {
  const body = html`<h1>Test checkout</h1>
    <p class="amount">${humanMoney(payment)}</p>
    ${facts(payment)}
    <div role="status">${notice && html`<p class="notice">${notice.text}</p>`}</div>
    ${buttons(payment.status)} ${wayBack(payment)}
    <footer>No money moves here: the buttons send the callback that a gateway would send.</footer>`
  const title = `${statusWords[payment.status]}: test checkout`
  return page(200, { title, body, reload: notice?.reload })
}

export async function noCheckoutPage(): Promise<Response> {
  const body = html`<h1>Test checkout</h1>
    <p class="amount">No such payment</p>
    <p class="notice">There is no test payment under this address. Check the link.</p>`
  return page(404, { title: 'No such payment', body })
}

function facts(payment: Payment): Html {
  const { type, id } = payment.payable
  return html`<dl>
    <dt>For</dt>
    <dd>${visibleText(type)} ${visibleText(id)}</dd>
    ${
      payment.description !== null &&
      html`<dt>Details</dt>
        <dd>${visibleText(payment.description)}</dd>`
    }
    <dt>Payment</dt>
    <dd class="id">${payment.id}</dd>
    <dt>Status</dt>
    <dd class="status ${payment.status}">${statusWords[payment.status]}</dd>
  </dl>`
}

/** A paid payment never changes again; a declined one can still be paid. */
function buttons(status: PaymentStatus): Html | false {
  if (status === 'paid') return false
  const decline = html`<button name="result" value="failure">Decline</button>`
  return html`<form method="post">
    <button class="go" name="result" value="success">Pay</button>
    ${status === 'pending' && decline}
  </form>`
}

function wayBack(payment: Payment): Html | false {
  const { returnUrl } = payment
  if (returnUrl === null || !/^https?:\/\//.test(returnUrl)) return false
  return html`<p><a href="${returnUrl}">Back to the shop</a></p>`
}

interface Page {
  readonly title: string
  readonly body: Html
  readonly reload?: string | undefined
}

async function page(status: number, { title, body, reload }: Page): Promise<Response> {
  const refresh =
    reload !== undefined && html`<meta http-equiv="refresh" content="1; url=${reload}" />`
  const document = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${refresh} ${styleElement}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html>`
  return new Response(document.toString(), { status, headers })
}
