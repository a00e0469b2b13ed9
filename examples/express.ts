// Quittance in an Express app: one line, above every body parser.
//
// Run it here, after `npm ci`:    npx node examples/express.ts
// In a project of your own:       npm install quittance express
import express from 'express'
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

const app = express()
// It takes what is for Quittance; every other request goes on, unread.
app.use(nodeHandler(billing))
app.use(express.json())
app.get('/', (_request, response) => {
  response.send('The rest of the app.')
})

const server = app.listen(Number(PORT), () => {
  console.log(`listening on http://localhost:${PORT}`)
})

// No new requests, then finish what is under way.
const end = () => void server.close(() => void billing.close())
process.once('SIGTERM', end).once('SIGINT', end)
