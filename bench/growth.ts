import pg from 'pg'
import { fillBacklog, newPayments } from './backlog.ts'
import { runWorker } from './processing.ts'
import { repeatRounds, type Figure } from './rounds.ts'
import type { BenchOptions } from './service.ts'

/** Whether a backlog is processed as fast beside millions of finished calls as in an empty table. */
export async function benchGrowth(options: BenchOptions): Promise<readonly Figure[]> {
  const { server, settings, progress } = options
  const { backlog, finished, backlogRounds } = settings
  const calls = backlog.postgres
  const empty = await server.create()
  await fillBacklog({ url: empty }, { payments: newPayments(calls), callbacks: true })
  progress(`growth: ${finished} finished calls`)
  const grown = await server.create(empty)
  await addFinished(grown, finished)
  const rounds = await repeatRounds(
    { count: backlogRounds, baseline: 'empty', progress: (round) => progress(`growth, ${round}`) },
    async (each) => {
      const run = { listener: 'no listener', calls } as const
      const perSecond = await runWorker({ ...run, copyOf: { url: empty } }, options)
      each.add('empty', { perSecond })
      const beside = await runWorker({ ...run, before: finished, copyOf: { url: grown } }, options)
      each.add(`${finished.toLocaleString('en')} finished calls`, { perSecond: beside })
    },
  )
  return rounds.figures(['empty'])
}

/** Paid payments with all that belongs to them, in the past; their callbacks are small. */
const finishedRows = [
  `create temporary table done as
     select gen_random_uuid() as payment, gen_random_uuid() as call,
       clock_timestamp() - interval '1 day' + n * interval '30 ms' as at
     from generate_series(1, $1) as n`,
  `insert into billing.payments (id, gateway, live, status, amount, currency, payable_type,
     payable_id, provider_reference, created_at, updated_at)
   select payment, 'stripe', true, 'paid', 4999, 'UAH', 'order', payment::text, 'pi_' || payment,
     at, at from done`,
  `insert into billing.payment_transitions
     (id, payment_id, from_status, to_status, cause, webhook_call_id, at)
   select gen_random_uuid(), payment, 'pending', 'paid', 'call', call, at from done`,
  `insert into billing.events
     (id, dedup_key, type, payment_id, webhook_call_id, source, created_at)
   select gen_random_uuid(), 'paid:' || payment, 'PaymentSucceeded', payment, call, 'call', at
   from done`,
  `insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload, state,
     next_attempt_at, outcome, payment_id, received_at, processed_at)
   select call, 'stripe', 'default', 'http://127.0.0.1/billing/webhooks/stripe', '{}', 'json',
     json_build_object('id', call), 'processed', at, '[{"result":"applied","type":"payment:paid"}]',
     payment, at, at from done`,
  `analyze billing.payments, billing.payment_transitions, billing.events, billing.webhook_calls`,
]

async function addFinished(connectionString: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  for (const statement of finishedRows) {
    await client.query(statement, statement.includes('$1') ? [count] : [])
  }
  await client.end()
}
