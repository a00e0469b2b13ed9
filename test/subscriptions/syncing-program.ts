import { coreOf } from '../../src/billing/create-core.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import type { Database } from '../../src/database/connect.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { MoneyContext } from '../../src/money/context.ts'
import { runDueSyncs } from '../../src/upkeep/run-syncs.ts'
import { muchPatience } from '../support/patience.ts'
import { stating } from '../support/stating-gateway.ts'
import { renews, statementOf } from './managing.ts'

/** Where a process dies: after the provider has answered, or before its nth commit. */
export type SyncCut = 'read' | `commit:${number}` | 'none'

/** What one process does: it asks about all that is due, at a time of its own. */
export interface Syncing {
  readonly database: BillingOptions['database']
  readonly now: string
  /** When the period begins that the provider says it is in, and that it was charged for. */
  readonly startsAt: string
  readonly cut: SyncCut
}

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal takes a moment; nothing may happen in it.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
}

/** Its provider has charged a period of which no callback has told, and plans the end. */
export function syncingGateway({ startsAt, cut }: Syncing): Gateway {
  return {
    ...stating,
    name: 'managing',
    title: 'Managing gateway',
    secretFields: [],
    checkout: { kind: 'api', open: async () => ({ url: 'https://provider.example/pay' }) },
    subscriptions: {
      read: async ({ reference }) => {
        if (cut === 'read') die()
        const statement = statementOf(reference, new Date(startsAt))
        const period = statement.currentPeriod ?? {}
        const cancelAt = statement.currentPeriod?.endsAt ?? null
        const outcomes = [renews(reference, 'ch_2', { period })]
        return { statement: { ...statement, cancelAt }, outcomes }
      },
    },
  }
}

export async function openSyncing(syncing: Syncing): Promise<{
  readonly context: MoneyContext
  readonly database: Database
  close(): Promise<void>
}> {
  const { database, now, cut } = syncing
  const runtime = createRuntime(
    { database, extraGateways: [syncingGateway(syncing)] },
    { patience: muchPatience },
  )
  const core = coreOf(runtime)
  await core.migrate()
  const entitled = await runtime.entitledContext()
  const opened = entitled.processing.database
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
    subscriptionTime: async () => new Date(now),
  }
  const context = { ...entitled, processing }
  return { context, database: opened, close: () => core.close() }
}

const given = process.env['SYNCING']
if (given !== undefined) {
  const { context, close } = await openSyncing(JSON.parse(given) as Syncing)
  const { steps } = await runDueSyncs(context)
  process.stdout.write(`done ${steps}\n`)
  await close()
}
