// Quittance on a plain `node:http` server.
//
// Run it here, after `npm ci`:    npx node examples/node-http.ts
// In a project of your own:       npm install quittance
import { createServer } from 'node:http'
import { createBilling } from 'quittance'
import { nodeHandler } from 'quittance/node'

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

const handle = nodeHandler(billing)
const server = createServer((incoming, outgoing) => {
  // Called for every request that is not a callback. A server without other pages needs no such
  // function: `createServer(nodeHandler(billing))` answers /healthz and /readyz too.
  handle(incoming, outgoing, () => {
    outgoing.end('The rest of the app.')
  })
})
server.listen(Number(PORT), () => {
  console.log(`listening on http://localhost:${PORT}`)
})

// No new requests, then finish what is under way.
const end = () => void server.close(() => void billing.close())
process.once('SIGTERM', end).once('SIGINT', end)
