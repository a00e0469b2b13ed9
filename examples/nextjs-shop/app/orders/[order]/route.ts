import { randomUUID } from 'node:crypto'
import { page } from '../../../lib/answers.ts'
import { findOrder, payLink, type Order } from '../../../lib/orders.ts'

export const runtime = 'nodejs'

interface Context {
  readonly params: Promise<{ readonly order: string }>
}

export async function GET(_request: Request, { params }: Context): Promise<Response> {
  const order = await findOrder((await params).order)
  if (order === undefined) return page('Sorry', '<p>There is no such order.</p>', 404)
  return page('Your order', standing(order))
}

function standing({ id, state }: Order): string {
  if (state === 'new') return `<p>Not paid yet.</p>\n    <a href="${payLink(id)}">Pay</a>`
  if (state === 'refunded') return '<p>Refunded.</p>'
  return `<p>Paid. Enjoy the book!</p>
    <form method="post" action="/orders/${id}/refund">
      <input type="hidden" name="refund" value="${randomUUID()}">
      <button>Refund</button>
    </form>`
}
