import { html } from 'hono/html'
import { isUuid } from '../../kernel/uuid.ts'
import type { Action } from '../action.ts'
import type { Visit } from '../context.ts'
import { shown } from '../parts/shown.ts'
import { amount } from '../parts/values.ts'

const idOf = ({ params }: Visit) => params['id'] ?? ''

/** Nobody owes it any more. */
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
