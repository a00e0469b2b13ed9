// A whole shop in route handlers: a product, an order, its checkout, the order granted, a refund. It
// takes payments at the fake gateway, so it needs no account; with the settings of another gateway
// only the name in `payFor` changes. Your pages would be React: only the requests matter here.
//
// In a project of your own:    npm install quittance pg
// Copy the files of this folder to the same places, then:    npx next dev
import { page } from '../lib/answers.ts'
import { product } from '../lib/product.ts'

export const runtime = 'nodejs'

export function GET(): Response {
  return page(
    product.name,
    `<p>${product.price}</p>
    <form method="post" action="/orders"><button>Buy</button></form>`,
  )
}
