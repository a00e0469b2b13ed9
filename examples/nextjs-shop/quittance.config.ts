import { defineConfig } from 'quittance'
import { listeners } from './lib/listeners.ts'

/** What the shop and the commands share. */
export default defineConfig({
  url: process.env.APP_URL,
  // Unset: the embedded database, in .quittance or BILLING_DATA_DIR.
  database: { url: process.env.DATABASE_URL, data_dir: process.env.BILLING_DATA_DIR },
  listeners,
})
