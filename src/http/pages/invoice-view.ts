import { html } from 'hono/html'
import type { Invoice, InvoiceLine, InvoiceParty } from '../../invoices/invoice.ts'
import type { Money } from '../../kernel/money.ts'
import type { StandingState } from '../../payments/standing.ts'
import { humanMoney } from '../human-money.ts'
import { humanDate, humanDates } from '../human-time.ts'
import { wholeText } from '../visible-text.ts'
import { invoiceStyle } from './invoice-style.ts'
import type { Language } from './language.ts'
import { page, type Html } from './layout.ts'
import type { Look } from './look.ts'
import { deadEnd, help, isTakenBack, linkButton, takenBackKeys } from './payment-view.ts'

interface Surroundings {
  readonly gatewayTitle: string
  readonly now: Date
  /** How its payment stands, once it is paid. */
  readonly state: StandingState | undefined
}

/** A document as it is read on a screen, and as it is printed: nothing of it runs. */
export function invoiceDocument(
  invoice: Invoice,
  surroundings: Surroundings,
  look: Look,
): Promise<Response> {
  const { language } = look
  const { say } = language
  const name = invoice.number === null ? '' : wholeText(invoice.number)
  const body = html`<div class="top">
      <div>
        <p class="kicker">${name === '' ? '' : say('invoiceHeading')}</p>
        <h1>${name === '' ? say('invoiceHeading') : name}</h1>
      </div>
      ${stamp(invoice, surroundings.state, language)}
    </div>
    ${invoice.live === false && html`<p class="tried">${say('invoiceTestText')}</p>`}
    ${invoice.status === 'void' && html`<p class="voided">${say('invoiceVoidText')}</p>`}
    ${dates(invoice, language)} ${parties(invoice, language)} ${lines(invoice, language)}
    ${sums(invoice, language)} ${bank(invoice, language)}
    ${original(invoice, surroundings, language)}
    ${
      invoice.seller?.note !== undefined &&
      html`<p class="note">${wholeText(invoice.seller.note)}</p>`
    }
    <div class="actions">${help(look)}</div>`
  const title = [say('invoiceHeading'), name].filter((part) => part !== '').join(' ')
  const mark = markOf(invoice, surroundings)
  return page(look, { title, mark: `invoice ${mark}`, body, style: invoiceStyle })
}

/** What is late is marked as what waits; what is owed in time is not marked at all. */
function markOf({ status, dueAt }: Invoice, { state = 'paid', now }: Surroundings): string {
  if (status === 'void') return 'canceled'
  if (status === 'paid') return state
  return dueAt !== null && dueAt < now ? 'pending' : ''
}

function stamp(
  { status }: Invoice,
  state: StandingState | undefined,
  { say }: Language,
): Html | false {
  if (status === 'issued') return false
  if (status === 'void') return html`<p class="stamp large">${say('stampVoid')}</p>`
  const key = state !== undefined && isTakenBack(state) ? takenBackKeys[state].heading : 'stampPaid'
  return html`<p class="stamp">${say(key)}</p>`
}

function dates(invoice: Invoice, { say, tag }: Language): Html {
  const { timeZone, period } = invoice
  const day = (at: Date) =>
    html`<time datetime="${at.toISOString()}">${humanDate(at, tag, timeZone)}</time>`
  const facts: readonly (readonly [string, Html | string | null])[] = [
    [say('invoiceIssued'), day(invoice.issuedAt)],
    [say('invoiceDue'), dueOf(invoice, day)],
    [say('invoicePaid'), invoice.paidAt && day(invoice.paidAt)],
    [say('invoiceVoided'), invoice.voidedAt && day(invoice.voidedAt)],
    [say('invoicePeriod'), period && humanDates([period.startsAt, period.endsAt], tag, timeZone)],
  ]
  const shown = facts.filter(([, fact]) => fact !== null)
  return html`<dl class="facts">
    ${shown.map(
      ([label, fact]) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${fact}</dd>
        </div>`,
    )}
  </dl>`
}

/** Of what is owed. */
function dueOf({ status, dueAt }: Invoice, day: (at: Date) => Html): Html | null {
  return status === 'issued' && dueAt !== null ? day(dueAt) : null
}

function parties({ seller, buyer }: Invoice, language: Language): Html | false {
  if (seller === null && buyer === null) return false
  const { say } = language
  return html`<div class="parties">
    ${seller !== null && party(say('invoiceFrom'), seller, language)}
    ${buyer !== null && party(say('invoiceTo'), buyer, language)}
  </div>`
}

function party(label: string, who: InvoiceParty, { say }: Language): Html {
  const { name, address = [], taxId, registrationNumber, email, phone } = who
  const numbers = [
    taxId === undefined ? undefined : say('invoiceTaxId', { id: wholeText(taxId) }),
    registrationNumber === undefined
      ? undefined
      : say('invoiceRegistration', { id: wholeText(registrationNumber) }),
  ]
  const rest = [...address.map(wholeText), ...numbers, shown(email), shown(phone)]
  return html`<section>
    <h2>${label}</h2>
    ${name !== undefined && html`<p class="name">${wholeText(name)}</p>`}
    ${rest.filter((line) => line !== undefined).map((line) => html`<p>${line}</p>`)}
  </section>`
}

function shown(text: string | undefined): string | undefined {
  return text === undefined ? undefined : wholeText(text)
}

function lines(invoice: Invoice, { say, tag }: Language): Html | false {
  if (invoice.lines.length === 0) return false
  const { currency } = invoice
  const counted = invoice.lines.some(({ quantity }) => quantity !== 1)
  const count = new Intl.NumberFormat(tag, { maximumFractionDigits: 3 })
  const row = ({ description, quantity, amount }: InvoiceLine) =>
    html`<tr>
      <th scope="row">${wholeText(description)}</th>
      ${counted && html`<td>${count.format(quantity)}</td>`}
      <td>${signed({ amount, currency }, tag)}</td>
    </tr>`
  return html`<table>
    <thead>
      <tr>
        <th scope="col">${say('invoiceDescription')}</th>
        ${counted && html`<th scope="col">${say('invoiceQuantity')}</th>`}
        <th scope="col">${say('invoiceAmount')}</th>
      </tr>
    </thead>
    <tbody>
      ${invoice.lines.map(row)}
    </tbody>
  </table>`
}

/** What is taken off has a minus as wide as the digits. */
function signed({ amount, currency }: Money, tag: string): string {
  if (amount >= 0n) return humanMoney({ amount, currency }, tag)
  return `\u2212${humanMoney({ amount: -amount, currency }, tag)}`
}

/** Where more went back than was paid, nothing is left. */
function sums({ total, credited, currency, status }: Invoice, { say, tag }: Language): Html {
  const money = (amount: bigint) => signed({ amount, currency }, tag)
  const left = total > credited ? total - credited : 0n
  const owed = status === 'issued' && credited === 0n
  return html`<dl class="sums">
    <div class="${owed || credited > 0n ? '' : 'last'}">
      <dt>${say('invoiceTotal')}</dt>
      <dd>${money(total)}</dd>
    </div>
    ${
      credited > 0n &&
      html`<div>
          <dt>${say('invoiceCredited')}</dt>
          <dd>${money(-credited)}</dd>
        </div>
        <div class="last">
          <dt>${say('invoiceLeft')}</dt>
          <dd>${money(left)}</dd>
        </div>`
    }
    ${
      owed &&
      html`<div class="last">
        <dt>${say('invoiceToPay')}</dt>
        <dd>${money(total)}</dd>
      </div>`
    }
  </dl>`
}

/** Where to pay what is owed. */
function bank({ status, seller }: Invoice, { say }: Language): Html | false {
  const details = seller?.bankDetails
  if (status !== 'issued' || details === undefined) return false
  return html`<section class="bank">
    <h2>${say('invoiceBank')}</h2>
    ${details.map((line) => html`<p>${wholeText(line)}</p>`)}
  </section>`
}

/** The provider's own document is the one that counts. */
function original(
  { issuer, url }: Invoice,
  { gatewayTitle: gateway }: Surroundings,
  { say }: Language,
): Html | false {
  if (issuer !== 'provider') return false
  const host = url === null ? undefined : new URL(url).host
  return html`<p class="about">${say('invoiceElsewhere', { gateway })}</p>
    ${
      url !== null &&
      host !== undefined &&
      html`<div class="actions screen">${linkButton(url, say('invoiceOpen', { host }))}</div>
        <p class="paper">${url}</p>`
    }`
}

export function unknownInvoicePage(look: Look): Promise<Response> {
  const { say } = look.language
  const title = say('unknownInvoiceHeading')
  return deadEnd(look, { status: 404, title, text: say('unknownInvoiceText') })
}
