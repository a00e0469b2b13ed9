import { sharedBilling, type Billing } from 'quittance'
import { createTable } from './orders'
import { dataDir, pool } from './pool'
import { listeners } from './listeners'

/** The one billing of the server, however often Next.js loads this file. */
export function getBilling(): Billing {
  const { APP_URL, DATABASE_URL } = process.env
  return sharedBilling({
    // STRIPE_SIGNING_SECRET and the like, and NODE_ENV.
    environment: process.env,
    // Of the callback URLs and the pages that payers see.
    url: APP_URL,
    database: DATABASE_URL ? { url: DATABASE_URL } : { dataDir },
    listeners,
  })
}

/** Once per server: callbacks are processed from now on, those stored before first. */
export async function startBilling(): Promise<void> {
  const billing = getBilling()
  await billing.migrate()
  await createTable()
  await billing.work()
  // Next.js ends the process itself; what that cuts off is taken up again by the next one.
  process.once('SIGTERM', () => void pool.end().then(() => billing.close()))
}
