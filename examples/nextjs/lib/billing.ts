// One billing for the whole server. Next.js loads this module again after every change in
// development, and more than once in production: the global keeps a second one from opening.
import { createBilling, type Billing } from 'quittance'

const { BILLING_DATA_DIR = '.quittance-examples', DATABASE_URL } = process.env

async function openBilling(): Promise<Billing> {
  const billing = createBilling({
    // STRIPE_SIGNING_SECRET and the like, and NODE_ENV.
    environment: process.env,
    database: DATABASE_URL ? { url: DATABASE_URL } : { dataDir: BILLING_DATA_DIR },
  })
  billing.on('PaymentSucceeded', 'grantAccess', ({ payment }) => {
    console.log(`paid: ${payment.payable.type} ${payment.payable.id}`)
  })
  try {
    await billing.migrate()
    await billing.work()
  } catch (error) {
    // The next request tries again.
    delete kept.quittance
    await billing.close()
    throw error
  }
  // Next.js ends the process itself; what that cuts off is taken up again by the next one.
  process.once('SIGTERM', () => void billing.close())
  return billing
}

const kept = globalThis as typeof globalThis & { quittance?: Promise<Billing> }

/** The billing, opened and at work from its first use on. */
export function getBilling(): Promise<Billing> {
  kept.quittance ??= openBilling()
  return kept.quittance
}
