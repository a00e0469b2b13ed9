// Quittance in a Hono app on Node: its requests are handed on as they came.
//
// Run it here, after `npm ci`:    npx node examples/hono.ts
// In a project of your own:       npm install quittance hono @hono/node-server
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createBilling } from 'quittance'

const { BILLING_DATA_DIR = '.quittance-examples', DATABASE_URL, PORT = '3000' } = process.env

const billing = createBilling({
  // STRIPE_SIGNING_SECRET and the like, and NODE_ENV.
  environment: process.env,
  database: DATABASE_URL ? { url: DATABASE_URL } : { dataDir: BILLING_DATA_DIR },
})
billing.on('PaymentSucceeded', 'grantAccess', ({ payment }) => {
  console.log(`paid: ${payment.payable.type} ${payment.payable.id}`)
})
await billing.migrate()
await billing.work()

const app = new Hono()
// Callbacks, and the pages that payers see. `c.env` brings the sender's address along. No middleware
// above may read the body.
app.all('/billing/*', (c) => billing.fetch(c.req.raw, c.env))
app.get('/', (c) => c.text('The rest of the app.'))

const server = serve({ fetch: app.fetch, port: Number(PORT) }, ({ port }) => {
  console.log(`listening on http://localhost:${port}`)
})

// No new requests, then finish what is under way.
const end = () => void server.close(() => void billing.close())
process.once('SIGTERM', end).once('SIGINT', end)
