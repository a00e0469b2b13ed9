/**
 * Baseline: a worker as one writes it by hand with `pg`, over the same tables: one transaction a
 * call, eight at a time.
 */
import pg from 'pg'

const concurrency = 8
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: concurrency })

process.stdout.write('{}\n')
await Promise.all(Array.from({ length: concurrency }, processAll))
await pool.end()

async function processAll(): Promise<void> {
  const client = await pool.connect()
  while (await processNext(client));
  client.release()
}

interface StripeEvent {
  readonly data: { readonly object: { readonly metadata: { readonly payment_id: string } } }
}

async function processNext(client: pg.PoolClient): Promise<boolean> {
  await client.query('begin')
  const { rows } = await client.query<{ id: string; payload: StripeEvent }>(
    `select id, payload from billing.webhook_calls where state = 'pending'
     order by next_attempt_at, id limit 1 for update skip locked`,
  )
  const [call] = rows
  if (call !== undefined) await settle(client, call)
  await client.query('commit')
  return call !== undefined
}

async function settle(
  client: pg.PoolClient,
  call: { readonly id: string; readonly payload: StripeEvent },
): Promise<void> {
  const paymentId = call.payload.data.object.metadata.payment_id
  const { rows } = await client.query<{ status: string }>(
    'select status from billing.payments where id = $1 for update',
    [paymentId],
  )
  if (rows[0]?.status === 'pending') {
    await client.query(
      `update billing.payments set status = 'paid', updated_at = clock_timestamp() where id = $1`,
      [paymentId],
    )
    await client.query(
      `insert into billing.events (id, dedup_key, type, payment_id, webhook_call_id, source)
       values (gen_random_uuid(), $1, 'PaymentSucceeded', $2, $3, 'call')`,
      [`paid:${paymentId}`, paymentId, call.id],
    )
  }
  await client.query(
    `update billing.webhook_calls set state = 'processed', processed_at = clock_timestamp()
     where id = $1`,
    [call.id],
  )
}
