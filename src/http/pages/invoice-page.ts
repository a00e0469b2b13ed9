import { type Context, Hono } from 'hono'
import { html } from 'hono/html'
import { gatewayTitleOf } from '../../billing/known-gateway.ts'
import { standingsOf } from '../../billing/standings-of.ts'
import type { BillingCore } from '../../billing/types.ts'
import type { Invoice, InvoiceLine, InvoiceParty } from '../../invoices/invoice.ts'
import type { Money } from '../../kernel/money.ts'
import { withUuid } from '../../kernel/uuid.ts'
import type { StandingState } from '../../payments/standing.ts'
import { humanMoney } from '../human-money.ts'
import { humanDate, humanDates } from '../human-time.ts'
import { onlyAllow } from '../respond.ts'
import { shareLooks } from '../share-looks.ts'
import { wholeText } from '../visible-text.ts'
import type { Language } from './language.ts'
import { type Html, page } from './layout.ts'
import { type Look, lookOf } from './look.ts'
import type { PageContext } from './page-context.ts'
import { deadEnd, help, isTakenBack, linkButton, takenBackKeys } from './payment-view.ts'

/** Where documents are. */
export const invoicePages = '/billing/invoices'

/**
 * `/billing/invoices/{id}`: a document, to read and to print. Whoever has the address may read it, as
 * with payment links: nobody can guess the id.
 */
export function invoicePage({ core, now }: PageContext): Hono {
  const app = new Hono()
  const find = shareLooks((id) => core.invoices.get(id))
  app.get('/:id', async (c: Context) => {
    const invoice = await withUuid(c.req.param('id'), find)
    if (invoice === undefined) return unknownInvoicePage(lookOf(core, c))
    const { locale, currency, gateway } = invoice
    const customer = locale === null ? null : { locale }
    const look = lookOf(core, c, { customer, currency })
    const state = await stateOf(core, invoice)
    const gatewayTitle = gatewayTitleOf(core, gateway)
    return invoiceDocument(invoice, { gatewayTitle, now: now(), state }, look)
  })
  app.all('/:id', onlyAllow('GET, HEAD'))
  return app
}

/** Of a document that is paid: how its payment stands. */
async function stateOf(
  core: BillingCore,
  { status, paymentId: id }: Invoice,
): Promise<StandingState | undefined> {
  if (status !== 'paid' || id === null) return undefined
  const paid = { id, status }
  return (await standingsOf(core, [paid]))(paid).state
}

interface Surroundings {
  readonly gatewayTitle: string
  readonly now: Date
  /** How its payment stands, once it is paid. */
  readonly state: StandingState | undefined
}

/** A document as it is read on a screen, and as it is printed: nothing of it runs. */
function invoiceDocument(
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

function unknownInvoicePage(look: Look): Promise<Response> {
  const { say } = look.language
  const title = say('unknownInvoiceHeading')
  return deadEnd(look, { status: 404, title, text: say('unknownInvoiceText') })
}

/**
 * Of a document, in addition to the style of all pages: a sheet of paper on a screen, and on A4, in
 * black on white whatever the screen is like.
 */
const invoiceStyle = `
header, main { max-width: 50rem }
.invoice { padding: clamp(1.5rem, 6vw, 4rem) clamp(1.25rem, 6vw, 4rem) }
.invoice h1 { margin: 0; font-size: clamp(1.6rem, 6vw, 2.5rem); line-height: 1.15;
  letter-spacing: -.02em; color: inherit; font-variant-numeric: tabular-nums }
.invoice h2, .kicker, .facts dt, thead th { margin: 0 0 .35rem; font-size: .75rem; font-weight: 600;
  letter-spacing: .08em; text-transform: uppercase; color: var(--soft) }
.invoice p { margin: 0 }
.top { display: flex; flex-wrap: wrap; align-items: flex-start; justify-content: space-between;
  gap: 1rem 2rem }
.invoice .stamp { margin: .5rem; padding: .3rem .9rem; font-size: 1.125rem; font-weight: 800; letter-spacing: .14em;
  line-height: 1.3; text-transform: uppercase; color: var(--mark); border: 3px double currentColor;
  border-radius: .4rem; rotate: -4deg }
.invoice .large { margin: .75rem .5rem; font-size: clamp(1.75rem, 8vw, 3.25rem); border-width: 5px; border-style: solid;
  letter-spacing: .1em }
.invoice .tried { margin: 1rem 0 0; padding: .6rem .9rem; font-weight: 600; border: 2px dashed currentColor }
.invoice .voided { margin: 1rem 0 0; font-weight: 600; color: var(--mark) }
.facts, .parties { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr));
  gap: 1.25rem 2rem; margin: 2rem 0 0 }
.parties { grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr));
  padding-top: 2rem; border-top: 1px solid var(--line) }
.facts dd { font-variant-numeric: tabular-nums }
.name { font-weight: 600 }
table { width: 100%; margin: 2.5rem 0 0; border-collapse: collapse }
thead th { padding: 0 0 .6rem; text-align: left; border-bottom: 2px solid var(--ink) }
tbody th { font-weight: 400; text-align: left }
tbody th, td { padding: .8rem 0; vertical-align: top; border-bottom: 1px solid var(--line) }
td, thead th:not(:first-child) { padding-left: 1rem; text-align: right }
td { min-width: 4.5rem; font-variant-numeric: tabular-nums }
.sums { display: block; width: min(100%, 22rem); margin: 1rem 0 0 auto;
  font-variant-numeric: tabular-nums }
.sums div { display: flex; justify-content: space-between; gap: .25rem 1.5rem; padding: .3rem 0 }
.sums dd { text-align: right }
.sums .last { margin-top: .35rem; padding-top: .75rem; border-top: 2px solid var(--ink);
  font-size: 1.25rem; font-weight: 700 }
.sums .last dt { color: inherit }
.bank { margin: 2.5rem 0 0; padding: 1rem 1.25rem; border-left: 3px solid var(--brand, var(--edge)) }
.invoice .about { margin: 2rem 0 0 }
.invoice .note { margin: 2.5rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line);
  font-size: .875rem; color: var(--soft) }
.paper { display: none }
@media (min-width: 40rem) { body { padding: 2.5rem 1rem } }
@page { size: A4; margin: 16mm 18mm 18mm;
  @bottom-right { content: counter(page) ' / ' counter(pages); font: 8pt system-ui, sans-serif;
    color: #566171 } }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --paper: #fff; --ground: #fff;
    --line: #ccc; --edge: #888; --paid: #0b6b3a; --failed: #a3261d; --pending: #7a5200 }
  html { font-size: 10.5pt }
  body { display: block; min-height: 0; padding: 0; background: none }
  header { max-width: none; margin: 0 0 10mm; padding: 0 }
  main { max-width: none; overflow: visible; border: 0; border-radius: 0 }
  .invoice { padding: 0 }
  main::before { display: none }
  thead { display: table-header-group }
  tr, section, .sums, .note { break-inside: avoid }
  .sums { break-before: avoid }
  .screen, .help { display: none }
  .paper { display: block; color: var(--soft) }
  .stamp { print-color-adjust: exact }
}
`
