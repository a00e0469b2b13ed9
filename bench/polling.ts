import { createRuntime } from '../src/billing/runtime.ts'
import { requestSyncs } from '../src/database/managed-subscriptions.ts'
import type { Gateway } from '../src/gateways/gateway.ts'
import type { PollReply } from '../src/gateways/operations.ts'
import { newUuid } from '../src/kernel/ids.ts'
import { silentLog } from '../src/kernel/log.ts'
import type { Payment } from '../src/payments/payment.ts'
import { reconcile } from '../src/upkeep/reconcile.ts'
import { runDueSyncs } from '../src/upkeep/run-syncs.ts'
import { stating } from '../test/support/stating-gateway.ts'
import { fillManaged, fillOpenPayments, gatewayName, growOlder } from './polling-rows.ts'
import { createRounds, type Figure } from './rounds.ts'
import type { BenchOptions } from './service.ts'

/** Paces that gateways have, and for how long they poll what nobody pays. */
const paces = [
  { perMinute: 600, days: 4 },
  { perMinute: 60, days: 33 },
]
/** A scheduled run polls for so many seconds of its minute. */
const runSeconds = 50
/** What the docs promise, in minutes. */
const foundWithin = 10
const refundWithin = 1

/**
 * How soon a lost callback and an unanswered refund are found beside payments that nobody pays, by
 * counted polls: each minute has as many as the gateway's pace allows. Between two of them everything
 * becomes a minute older.
 */
export async function benchPolling(options: BenchOptions): Promise<readonly Figure[]> {
  const { server, settings, progress } = options
  const { open: count, minutes } = settings.polling
  const rounds = createRounds()
  for (const { perMinute, days } of paces) {
    progress(`polling: ${count} open payments, ${perMinute} polls a minute`)
    const url = await server.create()
    await fillOpenPayments(url, { count, days })
    const found = await passMinutes(url, { minutes, polls: (perMinute * runSeconds) / 60 })
    const { payment, refund } = found
    if (payment > foundWithin || refund > refundWithin) {
      throw new Error(`polling at ${perMinute} a minute: ${JSON.stringify(found)}`)
    }
    rounds.add(`${perMinute} a minute`, { payment, refund })
  }
  return rounds.figures([], 'every')
}

interface Simulation {
  minute: number
  polls: number
  /** By payment: from which minute on it is paid, and nobody has said so. */
  readonly paidFrom: Map<string, number>
  /** Payments that are paid once they have been polled. */
  readonly hesitating: Set<string>
  /** By charge: its refund, and when it was due. */
  readonly refunds: Map<string, { readonly id: string; readonly due: number }>
  /** The longest so far, in minutes. */
  readonly worst: { payment: number; refund: number }
  over: AbortController
}

async function passMinutes(
  url: string,
  { minutes, polls }: { readonly minutes: number; readonly polls: number },
): Promise<{ readonly payment: number; readonly refund: number }> {
  const simulation: Simulation = {
    minute: 0,
    polls: 0,
    paidFrom: new Map(),
    hesitating: new Set(),
    refunds: new Map(),
    worst: { payment: 0, refund: 0 },
    over: new AbortController(),
  }
  const gateway: Gateway = {
    ...stating,
    name: gatewayName,
    secretFields: [],
    pollsPerMinute: 1_000_000,
    poll: async ({ payment }) => {
      simulation.polls += 1
      if (simulation.polls >= polls) simulation.over.abort()
      return answer(payment, simulation)
    },
  }
  const runtime = createRuntime({ database: { url }, extraGateways: [gateway], log: silentLog })
  try {
    const context = await runtime.entitledContext()
    const { pool } = context.processing.database
    for (; simulation.minute < minutes; simulation.minute += 1) {
      await handOver(pool, simulation)
      simulation.polls = 0
      simulation.over = new AbortController()
      await reconcile(context, { gateway: gatewayName, signal: simulation.over.signal })
      await growOlder(url)
    }
    return worstOf(simulation)
  } finally {
    await runtime.close()
  }
}

type Pool = Awaited<
  ReturnType<ReturnType<typeof createRuntime>['entitledContext']>
>['processing']['database']['pool']

/** Each minute: one that is paid at once, one that is paid later, and a refund without an answer. */
async function handOver(pool: Pool, simulation: Simulation): Promise<void> {
  const [paid, hesitating, charge, refund] = [newUuid(), newUuid(), newUuid(), newUuid()]
  await pool.query(
    `insert into billing.payments (id, type, parent_id, gateway, status, amount, currency, payable_type,
       payable_id, checkout, handed_at, next_poll_at)
     select id, type, parent, $5, status, 4999, 'USD', 'order', 'fresh', 'open', now(), now() + due
     from (values ($1::uuid, 'charge', null::uuid, 'pending', interval '5 minutes'),
       ($2::uuid, 'charge', null, 'pending', interval '5 minutes'),
       ($3::uuid, 'charge', null, 'paid', null),
       ($4::uuid, 'refund', $3::uuid, 'pending', interval '2 minutes'))
       as fresh (id, type, parent, status, due)`,
    [paid, hesitating, charge, refund, gatewayName],
  )
  simulation.paidFrom.set(paid, simulation.minute)
  simulation.hesitating.add(hesitating)
  simulation.refunds.set(charge, { id: refund, due: simulation.minute + 2 })
}

function answer(payment: Payment, simulation: Simulation): PollReply {
  const { minute, paidFrom, hesitating, refunds, worst } = simulation
  const { id, amount, currency } = payment
  const listsRefunds = false
  const refund = refunds.get(id)
  if (refund !== undefined) {
    worst.refund = Math.max(worst.refund, minute - refund.due)
    refunds.delete(id)
    const named = { refundId: refund.id, refundReference: refund.id, amount, currency }
    const returned = { type: 'refund', payment: { id }, status: 'paid', ...named } as const
    return { outcomes: [returned], standing: 'paid', listsRefunds }
  }
  const from = paidFrom.get(id)
  if (from !== undefined) {
    worst.payment = Math.max(worst.payment, minute - from)
    paidFrom.delete(id)
    const paid = { type: 'payment', payment: { id }, status: 'paid', amount, currency } as const
    return { outcomes: [paid], standing: 'paid', listsRefunds }
  }
  if (hesitating.delete(id)) paidFrom.set(id, minute)
  return { outcomes: [], standing: 'open', listsRefunds }
}

/** What nobody has found yet counts, too. */
function worstOf({ minute, paidFrom, refunds, worst }: Simulation) {
  const waiting = [...paidFrom.values()].map((from) => minute - from)
  const open = [...refunds.values()].map(({ due }) => minute - due)
  return {
    payment: Math.max(worst.payment, ...waiting),
    refund: Math.max(worst.refund, ...open),
  }
}

/** Of a provider at its usual pace, in one process. */
const readsPerMinute = 60

/** How soon a provider is asked of what has just changed, on the first of a month: in minutes. */
export async function benchSyncs(options: BenchOptions): Promise<readonly Figure[]> {
  const { server, settings, progress } = options
  const count = settings.polling.syncs
  progress(`polling: ${count} subscriptions are due`)
  const url = await server.create()
  await fillManaged(url, count)
  const changed = `sub_${Math.ceil(count / 2)}`
  const over = new AbortController()
  let reads = 0
  let rungAfter = Infinity
  const gateway: Gateway = {
    ...stating,
    name: gatewayName,
    secretFields: [],
    pollsPerMinute: 1_000_000,
    subscriptions: {
      read: async ({ reference }) => {
        reads += 1
        if (reference === changed || reads > count) over.abort()
        if (reads === 10) await ring()
        return undefined
      },
    },
  }
  const runtime = createRuntime({ database: { url }, extraGateways: [gateway], log: silentLog })
  const ring = async () => {
    const { database } = (await runtime.entitledContext()).processing
    const { rows } = await database.pool.query<{ id: string }>(
      'select id from billing.subscriptions where provider_reference = $1',
      [changed],
    )
    await requestSyncs(
      database.db,
      rows.map(({ id }) => id),
      new Date(),
    )
    rungAfter = reads
  }
  try {
    await runDueSyncs(await runtime.entitledContext(), { signal: over.signal })
  } finally {
    await runtime.close()
  }
  const minutes = (reads - rungAfter) / readsPerMinute
  if (!(minutes <= refundWithin)) throw new Error(`syncs: asked after ${minutes} minutes`)
  const rounds = createRounds()
  rounds.add(`one of ${count}`, { minutes })
  return rounds.figures([], 'every')
}
