import { html } from 'hono/html'
import type { InvoiceSnapshot } from '../../events/invoice-snapshot.ts'
import type { Html } from '../../http/pages/layout.ts'
import { invoiceLineFields, type InvoiceParty } from '../../invoices/invoice.ts'
import { isUuid } from '../../kernel/uuid.ts'
import { invoiceNoun } from '../../wire/invoice.ts'
import { type Action, actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { invoiceBadge } from '../parts/badges.ts'
import { outwards } from '../parts/links.ts'
import { type Cells, nounFacts, nounTable } from '../parts/noun.ts'
import { shown } from '../parts/shown.ts'
import { amount, idText, modeBadge, shortId, time } from '../parts/values.ts'
import { invoiceStatusWords, issuerWords } from '../words/invoices.ts'
import { cells } from './invoices.ts'

/** One document: what it says, and what it is about. */
export async function invoicePage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params } = visit
  const { id = '' } = params
  const found = isUuid(id) ? await console.core.invoices.get(id) : undefined
  if (found === undefined) return undefined
  const { status, number, issuer, currency } = found
  const canVoid = status === 'issued' && issuer === 'us'
  return {
    title: `Invoice ${number === null ? shortId(id) : shown(number)}`,
    section: 'invoices',
    beside: html`${invoiceBadge(status)} ${modeBadge(found.live)}
      ${amount({ amount: found.total, currency })}
      <span class="actions">
        ${canVoid && actionLink(visit, `${console.path}/invoices/${id}/void`, 'Void')}
      </span>`,
    body: html`<p class="panel">${invoiceStatusWords[status]}</p>
      ${factsOf(visit, found)}
      <h2>Lines</h2>
      ${linesOf(visit, found)} ${partiesOf(found)}`,
  }
}

/** What the page says above its facts, or below. */
const without = ['status', 'live', 'total', 'currency', 'lines', 'seller', 'buyer']

function factsOf(visit: Visit, found: InvoiceSnapshot): Html {
  const now = visit.console.now()
  const own: Cells<InvoiceSnapshot> = {
    ...cells,
    id: ({ id }) => idText(id),
    issuer: ({ issuer }) => issuerWords[issuer],
    url: ({ url }) => url !== null && outwards(url),
    period: ({ period }) =>
      period !== null && html`${time(period.startsAt, now)} to ${time(period.endsAt, now)}`,
    providerReference: ({ providerReference }) => idText(providerReference),
  }
  return nounFacts(invoiceNoun, found, { visit, cells: own, without })
}

function linesOf(visit: Visit, { lines, currency }: InvoiceSnapshot): Html {
  const noun = {
    plural: 'lines',
    facts: invoiceLineFields,
    columns: Object.keys(invoiceLineFields),
  }
  const rows = lines.map((line) => ({ ...line, currency }))
  return nounTable(noun, rows, {
    visit,
    caption: 'What is charged for',
    empty: "Its lines are on the provider's document alone.",
  })
}

function partiesOf({ seller, buyer }: InvoiceSnapshot): Html {
  return html`<div class="grid">
    ${
      seller !== null &&
      html`<section class="panel">
        <h3>Seller</h3>
        ${partyOf(seller)}
      </section>`
    }
    ${
      buyer !== null &&
      html`<section class="panel">
        <h3>Buyer</h3>
        ${partyOf(buyer)}
      </section>`
    }
  </div>`
}

function partyOf(party: InvoiceParty): Html {
  const { name, address = [], taxId, registrationNumber, email, phone } = party
  const numbers = [taxId && `Tax id ${taxId}`, registrationNumber && `No. ${registrationNumber}`]
  const lines = [name, ...address, ...numbers, email, phone].filter(
    (line): line is string => line !== undefined && line !== '',
  )
  if (lines.length === 0) return html`<p>Nothing is known of them.</p>`
  return html`<ul class="plain-list">
    ${lines.map((line) => html`<li>${shown(line)}</li>`)}
  </ul>`
}

const idOf = ({ params }: Visit) => params['id'] ?? ''

/** Voids an invoice that is not paid. */
export const voidInvoice: Action = {
  name: 'voidInvoice',
  back: (visit) => `${visit.console.path}/invoices/${idOf(visit)}`,
  question: async (visit) => {
    const id = idOf(visit)
    const found = isUuid(id) ? await visit.console.core.invoices.get(id) : undefined
    if (found === undefined) return undefined
    const { number, total, currency } = found
    return {
      title: 'Void the document?',
      section: 'invoices',
      explanation: html`<p>
          Nobody owes <b>${number === null ? 'it' : shown(number)}</b> of
          ${amount({ amount: total, currency })} any more. It stays in the series with its number,
          as void, and its charge may have another document. It cannot be taken back.
        </p>
        <p>
          No money moves. A paid document stays paid; refund its payment instead. That of a
          subscription's period is void with the period: cancel the subscription instead.
        </p>`,
      button: 'Void the document',
    }
  },
  act: async (visit) => {
    await visit.console.core.invoices.void(idOf(visit))
    return { notice: 'invoice_voided' }
  },
}
