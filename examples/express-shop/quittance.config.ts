import { join } from 'node:path'
import { defineConfig } from 'quittance'
import { listeners } from './listeners.ts'

const { APP_URL, BILLING_DATA_DIR, DATABASE_URL } = process.env

/** Of the embedded database, where no PostgreSQL is named. */
export const dataDir = BILLING_DATA_DIR || join(import.meta.dirname, '.quittance')

/** What the shop and the commands share. */
export default defineConfig({
  url: APP_URL,
  database: { url: DATABASE_URL, data_dir: dataDir },
  listeners,
})
