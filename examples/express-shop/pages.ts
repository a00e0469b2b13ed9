import { randomUUID } from 'node:crypto'
import { payLink } from './billing.ts'
import type { Order } from './orders.ts'
import { price, product } from './product.ts'

export function productPage(): string {
  return page(
    product.name,
    `<article class="product">
      <div class="cover" aria-hidden="true">
        <span>The Complete Guide to</span>
        <strong>Receipts</strong>
      </div>
      <div>
        <h1>${product.name}</h1>
        <p>${product.about}</p>
        <p class="price">${price(product.amount)}</p>
        <form method="post" action="/orders"><button>Buy</button></form>
      </div>
    </article>`,
  )
}

export function orderPage(order: Order): string {
  const [standing, more] = partsOf(order)
  return card(
    'Your order',
    `<dl>
        <dt>Book</dt><dd>${product.name}</dd>
        <dt>Price</dt><dd>${price(order.amount)}</dd>
        <dt>Status</dt><dd><span class="badge">${standing}</span></dd>
      </dl>
      ${more}`,
  )
}

/** How it stands, and what there is to do. */
function partsOf({ id, state, amount, refunded }: Order): readonly [string, string] {
  if (state === 'new') return ['Not paid', `<a class="button" href="${payLink(id)}">Pay</a>`]
  if (state === 'taken back') return ['Refunded', '<p>All of your money is on its way back.</p>']
  const all = refundForm(id, ['all', `Send it back: refund ${price(amount - refunded)}`])
  if (refunded > 0) return ['Partly refunded', `<p>${price(refunded)} went back to you.</p>${all}`]
  const late = `It came late: refund the shipping, ${price(product.shipping)}`
  return ['Paid', `<p>Enjoy the book!</p>${refundForm(id, ['shipping', late])}${all}`]
}

/** The id of the refund is made with the page: pressed twice it is one refund. */
function refundForm(id: string, [part, text]: readonly [string, string]): string {
  return `<form method="post" action="/orders/${id}/refund">
        <input type="hidden" name="refund" value="${randomUUID()}">
        <button class="quiet" name="part" value="${part}">${text}</button>
      </form>`
}

export function sorryPage(text: string): string {
  return card('Sorry', `<p>${text}</p>`)
}

function card(title: string, body: string): string {
  return page(
    title,
    `<section class="card">
      <h1>${title}</h1>
      ${body}
    </section>`,
  )
}

/** Nothing on these pages was typed by a payer; what is must be escaped. */
function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>${title}</title>
    <link rel="stylesheet" href="/style.css">
  </head>
  <body>
    <header><a class="brand" href="/">Paper &amp; Sons</a></header>
    <main>${body}</main>
    <footer>Books about paper</footer>
  </body>
</html>`
}
