// quittance.config.ts
import { defineConfig } from 'quittance'
import { listeners } from './lib/listeners.ts'

/** What the app and the commands share. */
export default defineConfig({
  // Where the app is reached: callback URLs begin with it. Unset: http://localhost, at PORT or 3000.
  url: process.env.APP_URL,
  // Unset: the embedded database in .quittance; not in production.
  database: { url: process.env.DATABASE_URL },
  listeners,
})
