// Callbacks, and the pages that payers see: the checkout here, and the one they come back to.
import { getShop } from '../../../lib/shop.ts'

/** The embedded database and the worker need Node, not the edge. */
export const runtime = 'nodejs'

async function handOn(request: Request): Promise<Response> {
  const { billing } = await getShop()
  return billing.fetch(request)
}

export { handOn as GET, handOn as POST }
