import { countRefusals, listRefusals } from '../database/refusals.ts'
import { handle } from './handles.ts'
import type { InspectOperations } from './inspect-types.ts'
import { checked, refusalsQuery } from './list-queries.ts'
import type { Runtime } from './runtime.ts'
import type { AnsweredRequest } from './types.ts'

/** `billing.inspect` */
export function inspectOperations(runtime: Runtime): InspectOperations {
  return {
    refusals: async (query = {}) => {
      const { gateway } = checked(refusalsQuery, query)
      const db = await handle(runtime, 'billing.inspect.refusals')
      const counts = await countRefusals(db, gateway)
      return { counts, samples: await listRefusals(db, gateway) }
    },
  }
}

/** Answers that have one meaning each. */
const reasons = new Map([
  [404, 'unknown_gateway'],
  [413, 'too_large'],
  [415, 'encoding'],
])

/** Keeps what a callback looked like that was answered before it came to the pipeline. */
export function sampleAnswered(
  { samples, settings }: Runtime,
  { name, status }: { readonly name: string; readonly status: number },
  request: AnsweredRequest,
): void {
  const reason = reasons.get(status)
  const gateway = settings.gateways.find(name)?.gateway
  if (reason !== undefined) samples.add({ gateway, name, reason }, request)
}
