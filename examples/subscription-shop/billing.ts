import { join } from 'node:path'
import { createBilling } from 'quittance'
import { magazine, plans } from './magazine.ts'

const { BILLING_DATA_DIR, DATABASE_URL, PORT = '3000' } = process.env

/** Of the embedded database, where no PostgreSQL is named. */
export const dataDir = BILLING_DATA_DIR ?? join(import.meta.dirname, '.quittance')

export const billing = createBilling({
  // Of the pages that payers are sent to, and of the callback URLs.
  url: `http://localhost:${PORT}`,
  environment: process.env,
  database: DATABASE_URL ? { url: DATABASE_URL } : { dataDir },
  plans,
  brand: { name: magazine.name },
})
