import { randomUUID } from 'node:crypto'
import { payLink } from './billing.ts'
import type { Order } from './orders.ts'
import { product } from './product.ts'

export function productPage(): string {
  return page(
    product.name,
    `<p>${product.price}</p>
    <form method="post" action="/orders"><button>Buy</button></form>`,
  )
}

export function orderPage({ id, state }: Order): string {
  const parts: Readonly<Record<Order['state'], string>> = {
    new: `<p>Not paid yet.</p>
    <a href="${payLink(id)}">Pay</a>`,
    granted: `<p>Paid. Enjoy the book!</p>
    <form method="post" action="/orders/${id}/refund">
      <input type="hidden" name="refund" value="${randomUUID()}">
      <button>Refund</button>
    </form>`,
    refunded: '<p>Refunded.</p>',
  }
  return page('Your order', parts[state])
}

export function sorryPage(text: string): string {
  return page('Sorry', `<p>${text}</p>`)
}

/** Nothing on these pages was typed by a payer; what is must be escaped. */
function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>${title}</title>
  </head>
  <body>
    <h1>${title}</h1>
    ${body}
    <p><a href="/">Shop</a></p>
  </body>
</html>`
}
