// One billing and one pool for the whole server. Next.js loads this module again after every change
// in development, and more than once in production: the global keeps a second one from opening.
import { resolve } from 'node:path'
import pg from 'pg'
import { createBilling, type Billing } from 'quittance'

const { BILLING_DATA_DIR = '.quittance', DATABASE_URL, PORT = '3000' } = process.env

interface Shop {
  readonly billing: Billing
  /** For the shop's own table, in the database of the payments. */
  readonly pool: pg.Pool
}

async function openShop(): Promise<Shop> {
  const billing = createBilling({
    // Of the pages that payers are sent to, and of the callback URLs.
    url: `http://localhost:${PORT}`,
    environment: process.env,
    database: DATABASE_URL ? { url: DATABASE_URL } : { dataDir: BILLING_DATA_DIR },
  })
  listen(billing)
  const pool = openPool()
  const close = () => pool.end().then(() => billing.close())
  try {
    await billing.migrate()
    // So that the example needs no set-up; in your app a migration does it.
    await pool.query(
      "create table if not exists orders (id text primary key, state text not null default 'new')",
    )
    await billing.work()
  } catch (error) {
    // The next request tries again.
    delete kept.shop
    await close()
    throw error
  }
  // Next.js ends the process itself; what that cuts off is taken up again by the next one.
  process.once('SIGTERM', () => void close())
  return { billing, pool }
}

/** In the transaction in which the payment becomes paid: the order is granted exactly if it is. */
function listen(billing: Billing): void {
  billing.on('PaymentSucceeded', 'grantOrder', async ({ payment }, { tx }) => {
    await tx.query("update orders set state = 'granted' where id = $1", [payment.payable.id])
  })
  billing.on('PaymentRefunded', 'takeBackOrder', async ({ payment: refund }, { tx }) => {
    await tx.query("update orders set state = 'refunded' where id = $1", [refund.payable.id])
  })
}

function openPool(): pg.Pool {
  // The embedded database listens on a socket in its folder.
  const embedded = { host: resolve(BILLING_DATA_DIR), user: 'postgres', database: 'postgres' }
  const pool = new pg.Pool(DATABASE_URL ? { connectionString: DATABASE_URL } : embedded)
  // A connection that breaks while nobody uses it is replaced.
  return pool.on('error', (error) => console.error(error.message))
}

const kept = globalThis as typeof globalThis & { shop?: Promise<Shop> }

/** The shop, opened and at work from its first use on. */
export function getShop(): Promise<Shop> {
  kept.shop ??= openShop()
  return kept.shop
}
