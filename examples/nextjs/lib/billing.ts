// lib/billing.ts
import { sharedBilling, type Billing } from 'quittance'

/** The one billing of the server, however often Next.js loads this file. */
export function getBilling(): Billing {
  return sharedBilling({
    // STRIPE_SIGNING_SECRET and the like, and NODE_ENV.
    environment: process.env,
    // Of the callback URLs and the pages that payers see; http://localhost:3000 without it.
    url: process.env.APP_URL,
    // Without it, the embedded database in .quittance; not in production.
    database: { url: process.env.DATABASE_URL },
    listeners: {
      grantAccess: {
        on: 'PaymentSucceeded',
        run: ({ payment }) => {
          console.log(`paid: ${payment.payable.type} ${payment.payable.id}`)
        },
      },
    },
  })
}

/** Once per server: callbacks are processed from now on, those stored before first. */
export async function startBilling(): Promise<void> {
  const billing = getBilling()
  await billing.migrate()
  await billing.work()
  // Next.js ends the process itself; what that cuts off is taken up again by the next one.
  process.once('SIGTERM', () => void billing.close())
}
