import { getBilling } from '../../../lib/billing'

/** The worker and the embedded database need Node, not the edge. */
export const runtime = 'nodejs'

/** Callbacks, and the pages that payers see, as they came. */
function handOn(request: Request): Promise<Response> {
  return getBilling().fetch(request)
}

export { handOn as GET, handOn as POST }
