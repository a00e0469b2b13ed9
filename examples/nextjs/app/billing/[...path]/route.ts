// Quittance in a Next.js app: a route handler that hands requests on as they came, callbacks and the
// pages that payers see. Next.js itself answers 405 for the methods that are not here.
//
// In a project of your own:    npm install quittance
// Copy the files of this folder to the same places, then:    npx next dev
import { getBilling } from '../../../lib/billing.ts'

/** The embedded database and the worker need Node, not the edge. */
export const runtime = 'nodejs'

async function handOn(request: Request): Promise<Response> {
  const billing = await getBilling()
  return billing.fetch(request)
}

export { handOn as GET, handOn as POST }
