import { migrate } from '../src/database/migrate.ts'
import { open } from './service.ts'

export const gatewayName = 'bench'

/** Open payments that nobody will pay, their ages spread evenly, all of them due for hours. */
export async function fillOpenPayments(
  url: string,
  { count, days }: { readonly count: number; readonly days: number },
): Promise<void> {
  const database = open({ kind: 'postgres', url })
  try {
    await migrate(database)
    await database.pool.query(
      `insert into billing.payments (id, gateway, amount, currency, payable_type, payable_id, checkout,
         handed_at, next_poll_at)
       select gen_random_uuid(), $3, 4999, 'USD', 'order', n::text, 'open',
         now() - n * ($2 * interval '1 day') / $1, now() - random() * interval '6 hours'
       from generate_series(1, $1::int) as n`,
      [count, days, gatewayName],
    )
    await database.pool.query('vacuum analyze billing.payments')
  } finally {
    await database.close()
  }
}

/** Managed subscriptions of which nothing has been heard, all due since an hour ago. */
export async function fillManaged(url: string, count: number): Promise<void> {
  const database = open({ kind: 'postgres', url })
  try {
    await migrate(database)
    await database.pool.query(
      `insert into billing.subscriptions (id, managed_by, gateway, provider_reference, status,
         payable_type, payable_id, amount, currency, every_unit, every_count, time_zone, anchor_at,
         anchor_number, grace_access, next_action_at, created_at, updated_at)
       select gen_random_uuid(), 'provider', $2, 'sub_' || n, 'active', 'account', n::text, 4999, 'USD',
         'month', 1, 'UTC', now(), 0, true, now() - interval '1 hour', now(), now()
       from generate_series(1, $1::int) as n`,
      [count, gatewayName],
    )
    await database.pool.query('vacuum analyze billing.subscriptions')
  } finally {
    await database.close()
  }
}

/** Lets a minute pass for all payments; index by index, so it takes longer than a statement may. */
export async function growOlder(url: string): Promise<void> {
  const { pool, close } = open({ kind: 'postgres', url })
  try {
    const client = await pool.connect()
    await client.query('set statement_timeout = 0')
    await client.query(`update billing.payments set handed_at = handed_at - interval '1 minute',
      next_poll_at = next_poll_at - interval '1 minute' where next_poll_at is not null`)
    await client.query('vacuum billing.payments')
    client.release(true)
  } finally {
    await close()
  }
}
