import type { Database } from '../src/database/connect.ts'
import { migrate } from '../src/database/migrate.ts'
import { gatewayName } from './renewals-provider.ts'
import { open } from './service.ts'

export interface Subscriptions {
  /** Each with a card of its own; paid until an hour ago. */
  readonly due: number
  /** Paid for weeks to come. */
  readonly resting: number
}

const atOnce = 20_000

/** Fills an empty database with monthly subscriptions. */
export async function fillSubscriptions(
  url: string,
  { due, resting }: Subscriptions,
): Promise<void> {
  const database = open({ kind: 'postgres', url })
  try {
    await migrate(database)
    const { pool } = database
    await pool.query(
      `insert into billing.payment_methods (id, gateway, status, provider_reference)
       select gen_random_uuid(), $2, 'attached', 'card ' || n from generate_series(1, $1::int) as n`,
      [due, gatewayName],
    )
    await pool.query(
      `insert into billing.subscriptions (${columns})
       select gen_random_uuid(), 'local', $1, 'active', 'account', provider_reference, 4999, 'USD',
         'month', 1, 'UTC', paid.until, 0, id, true, paid.until, paid.until, paid.until, paid.until
       from billing.payment_methods,
         (select date_trunc('second', now() - interval '1 hour')) as paid (until)`,
      [gatewayName],
    )
    for (let from = 0; from < resting; from += atOnce) {
      await pool.query(
        `insert into billing.subscriptions (${columns})
         select gen_random_uuid(), 'local', 'resting', 'active', 'account', n::text, 4999, 'USD',
           'month', 1, 'UTC', now(), 0, gen_random_uuid(), true, paid.until, paid.until, now(), now()
         from generate_series($1::int, $2::int) as n,
           lateral (select now() + interval '1 week' + n * interval '10 s') as paid (until)`,
        [from + 1, Math.min(resting, from + atOnce)],
      )
    }
    await pool.query('vacuum analyze billing.payment_methods, billing.subscriptions')
  } finally {
    await database.close()
  }
}

const columns = `id, managed_by, gateway, status, payable_type, payable_id, amount, currency,
  every_unit, every_count, time_zone, anchor_at, anchor_number, payment_method_id, grace_access,
  paid_until, next_action_at, created_at, updated_at`

export async function readCards({ pool }: Database): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'select id from billing.payment_methods order by id',
  )
  return rows.map(({ id }) => id)
}
