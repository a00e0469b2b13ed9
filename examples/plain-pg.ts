// A listener that writes plain SQL, in the transaction in which the payment becomes paid: the
// row is there exactly if the event is.
//
// Run it here, after `npm ci`:    npx node examples/plain-pg.ts
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
billing.on('PaymentSucceeded', 'grantAccess', async ({ payment }, { tx, afterCommit }) => {
  if (payment.payable.type !== 'order') return
  // So that the example needs no set-up; in your app a migration has done it.
  await tx.query(
    'create table if not exists access (payment_id uuid primary key, order_id text not null)',
  )
  // `tx.client` is the `pg` client itself, for code of yours that takes one.
  await tx.client.query('insert into access (payment_id, order_id) values ($1, $2)', [
    payment.id,
    payment.payable.id,
  ])
  afterCommit(() => console.log(`paid: ${payment.payable.type} ${payment.payable.id}`))
})
await billing.migrate()
await billing.work()

const server = createServer(nodeHandler(billing))
server.listen(Number(PORT), () => {
  console.log(`listening on http://localhost:${PORT}`)
})

// No new requests, then finish what is under way.
const end = () => void server.close(() => void billing.close())
process.once('SIGTERM', end).once('SIGINT', end)
