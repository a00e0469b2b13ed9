import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { addCard } from './charging-program.ts'

/** Monthly subscriptions that are paid until the start, and due then. */
export async function addDue(
  database: Database,
  { start, count }: { readonly start: Date; readonly count: number },
): Promise<void> {
  const card = await addCard(database)
  await sql`insert into billing.subscriptions (id, managed_by, gateway, status, payable_type,
      payable_id, amount, currency, every_unit, every_count, time_zone, anchor_at, anchor_number,
      payment_method_id, grace_access, paid_until, next_action_at, created_at, updated_at)
    select gen_random_uuid(), 'local', 'scripted', 'active', 'account', n::text, 4999, 'USD',
      'month', 1, 'UTC', ${start}, 0, ${card}::uuid, true, ${start}, ${start}, ${start}, ${start}
    from generate_series(1, ${count}::int) as n`.execute(database.db)
}
