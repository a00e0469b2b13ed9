import { signatureRefusals } from '../../console/words/refusals-of-signatures.ts'
import { pendingMigrations } from '../../database/migrate.ts'
import { findUnverified } from '../../inspect/read-problems.ts'
import { counted } from '../../kernel/counted.ts'
import { ok, skipped, warning, type Finding } from './finding.ts'
import type { Installation } from './installation.ts'

const check = 'callbacks'

/** Whether a gateway refuses each of its callbacks for the signature. */
export async function checkCallbacks({
  database: state,
}: Installation): Promise<readonly Finding[]> {
  if (state.kind === 'closed') return [skipped(check, state.why)]
  const { database } = state
  if ((await pendingMigrations(database)).length > 0) {
    return [skipped(check, 'the schema is outdated')]
  }
  const found = await findUnverified(database.db)
  if (found.size === 0) return [ok(check, 'no gateway refuses all of them for their signature')]
  const { cause, fix } = signatureRefusals.signature_mismatch
  return Array.from(found, ([gateway, refused]) =>
    warning(check, {
      found: `${gateway} has accepted no callback in 24 hours, and refused ${counted(refused, 'callback')} for the signature. ${cause}`,
      fix,
    }),
  )
}
