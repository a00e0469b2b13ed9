import { once } from 'node:events'
import { sql } from 'kysely'
import { createRuntime } from '../../src/billing/runtime.ts'
import { coreOf } from '../../src/billing/create-core.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { Database } from '../../src/database/connect.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { ChargeReply, PollReply } from '../../src/gateways/operations.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import { runDueSubscriptions } from '../../src/upkeep/run-subscriptions.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { muchPatience } from '../support/patience.ts'
import { stating } from '../support/stating-gateway.ts'

/** Where a process dies: before its nth commit, or around its request to the provider. */
export type Cut = `commit:${number}` | 'asking' | 'answered' | 'none'

/** What one process does: renews all that is due, at a time of its own. */
export interface Charging {
  readonly database: BillingOptions['database']
  /** Of the provider. */
  readonly base: string
  readonly now: string
  readonly cut: Cut
  /** Says that it is ready, and begins when it is told something. */
  readonly waits?: boolean
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal takes a moment; nothing may happen in it.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
}

function outcomes({ id, amount, currency }: Payment, paid: boolean) {
  const payment = { type: 'payment', payment: { id }, status: 'paid', amount, currency } as const
  return paid ? [payment] : []
}

/** A provider that is asked over real HTTP. */
function httpGateway(base: string, cut: Cut): Gateway {
  const ask = async (what: string, { id }: Payment): Promise<{ readonly paid: boolean }> => {
    const response = await fetch(`${base}/${what}/${id}`, { method: 'POST' })
    return (await response.json()) as { readonly paid: boolean }
  }
  return {
    ...stating,
    name: 'scripted',
    secretFields: [],
    chargesPerMinute: 600_000,
    pollsPerMinute: 60_000,
    chargeSavedCard: async ({ payment }): Promise<ChargeReply> => {
      if (cut === 'asking') die()
      const { paid } = await ask('charge', payment)
      if (cut === 'answered') die()
      return { outcomes: outcomes(payment, paid) }
    },
    poll: async ({ payment }): Promise<PollReply> => {
      const { paid } = await ask('poll', payment)
      const standing = paid ? 'paid' : 'absent'
      return { outcomes: outcomes(payment, paid), standing, listsRefunds: false }
    },
  }
}

/** An open billing that charges at this time, and what ends it. */
export async function openCharging({ database, base, now, cut }: Charging): Promise<{
  readonly context: MoneyContext
  readonly clock: { now: Date }
  readonly database: Database
  close(): Promise<void>
}> {
  const gateway = httpGateway(base, cut)
  const runtime = createRuntime({ database, extraGateways: [gateway] }, { patience: muchPatience })
  const core = coreOf(runtime)
  await core.migrate()
  const entitled = await runtime.entitledContext()
  const opened = entitled.processing.database
  const clock = { now: new Date(now) }
  let commits = 0
  const transaction: Database['transaction'] = (work) =>
    opened.transaction(async (one) => {
      const done = await work(one)
      commits += 1
      if (cut === `commit:${commits}`) die()
      return done
    })
  const processing = {
    ...entitled.processing,
    database: { ...opened, transaction },
    subscriptionTime: async () => clock.now,
  }
  return {
    context: { ...entitled, processing },
    clock,
    database: opened,
    close: () => core.close(),
  }
}

export async function addCard(database: Database): Promise<string> {
  const id = newUuid()
  await sql`insert into billing.payment_methods (id, gateway, status, provider_reference)
    values (${id}::uuid, 'scripted', 'attached', ${`pm_${id}`})`.execute(database.db)
  return id
}

const given = process.env['CHARGING']
if (given !== undefined) {
  const charging = JSON.parse(given) as Charging
  const { context, close } = await openCharging(charging)
  if (charging.waits === true) {
    process.stdout.write('ready\n')
    await once(process.stdin, 'data')
    process.stdin.destroy()
  }
  const { steps } = await runDueSubscriptions(context, { lanes: 8 })
  process.stdout.write(`done ${steps}\n`)
  await close()
}
