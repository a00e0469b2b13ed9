// A whole shop: a product, an order, its checkout, the order granted, a refund. It takes payments at
// the fake gateway, so it needs no account; with the settings of another gateway only the name in
// `payFor` changes.
//
// Run it here, after `npm ci`:    npx node examples/express-shop/shop.ts
// In a project of your own:       npm install quittance express pg
// oxlint-disable oxc/no-async-endpoint-handlers -- since Express 5 what they throw is handled
import express, { type ErrorRequestHandler } from 'express'
import { isQuittanceError } from 'quittance'
import { nodeHandler } from 'quittance/node'
import { billing, payFor } from './billing.ts'
import { addOrder, createTable, findOrder, pool } from './orders.ts'
import { orderPage, productPage, sorryPage } from './pages.ts'
import { product } from './product.ts'

await billing.migrate()
await createTable()
await billing.work()

const app = express()
// Callbacks, and the pages that payers see: the checkout here, and the one they come back to.
app.use(nodeHandler(billing))
app.use(express.urlencoded())

app.get('/style.css', (_request, response) => {
  response.sendFile('style.css', { root: import.meta.dirname })
})

app.get('/', (_request, response) => {
  response.send(productPage())
})

app.post('/orders', async (_request, response) => {
  const order = await addOrder()
  response.redirect(303, await payFor(order.id))
})

app.get('/orders/:id', async (request, response) => {
  const order = await findOrder(request.params.id)
  if (order === undefined) response.status(404).send(sorryPage('There is no such order.'))
  else response.send(orderPage(order))
})

// For anybody to press here: in your shop, see who it is first.
app.post('/orders/:id/refund', async (request, response) => {
  const { id } = request.params
  const form = request.body as { readonly refund?: string; readonly part?: string } | undefined
  await billing.refunds.create(id, {
    id: form?.refund,
    // Without an amount, all that is left.
    ...(form?.part === 'shipping' && { amount: product.shipping }),
  })
  response.redirect(303, `/orders/${id}`)
})

// oxlint-disable-next-line max-params -- Express tells it by its four
const explain: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (!isQuittanceError(error)) return next(error)
  // Such as `checkout_unknown`: the provider has not answered, and the order page shows what comes.
  console.error(error.message)
  response.status(409).send(sorryPage(`That did not work (${error.code}).`))
}
app.use(explain)

const PORT = process.env.PORT || '3000'
const server = app.listen(Number(PORT), () => {
  console.log(`listening on ${billing.origin}`)
})

// No new requests, then finish what is under way.
const end = () => void server.close(() => void pool.end().then(() => billing.close()))
process.once('SIGTERM', end).once('SIGINT', end)
