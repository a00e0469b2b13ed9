import { sql } from 'kysely'
import type { TestBilling } from '../support/billing.ts'

/** The next look at each endpoint, and at what waits for it, is due now. */
export async function makeDue({ database }: Pick<TestBilling, 'database'>): Promise<void> {
  await sql`update billing.endpoints set next_at = statement_timestamp()
    where next_at is not null`.execute(database.db)
  await sql`update billing.forwards set next_attempt_at = statement_timestamp()
    where next_attempt_at is not null`.execute(database.db)
}
