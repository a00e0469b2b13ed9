import { sql } from 'kysely'
import { pathToFileURL } from 'node:url'
import type { BillingOptions } from '../../src/billing/options.ts'
import { coreOf } from '../../src/billing/create-core.ts'
import { createRuntime, type Runtime } from '../../src/billing/runtime.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { muchPatience } from '../support/patience.ts'
import { state, stating } from '../support/stating-gateway.ts'
import { paid } from '../support/statements.ts'
import { issuing } from './sellers.ts'

/** What a process is told to do until it is stopped. */
export interface Load {
  readonly database: NonNullable<BillingOptions['database']>
  /** All that it writes has this payable. */
  readonly name: string
  readonly series: readonly string[]
}

/** Issues documents in each series, has some paid and some void, and mirrors a provider's. */
export async function putLoad(load: Load, isOver: () => boolean): Promise<void> {
  const { database, series } = load
  const lanes = series.map(async (series) => {
    const invoices = { ...issuing, series }
    const runtime = createRuntime(
      { database, extraGateways: [stating], invoices },
      { patience: muchPatience },
    )
    const core = coreOf(runtime)
    const lane = async () => {
      while (!isOver()) await goRound(core, await addPayments(runtime, load.name))
    }
    await Promise.all([lane(), lane()])
    await core.close()
  })
  await Promise.all(lanes)
}

const money = { amount: 100n, currency: 'USD' }

/** Rows of payments that nobody asks a provider for. */
async function addPayments(runtime: Runtime, name: string): Promise<readonly string[]> {
  const { database } = await runtime.opened()
  const ids = Array.from({ length: 4 }, () => newUuid())
  await sql`insert into billing.payments (id, gateway, amount, currency, payable_type, payable_id)
    select id, 'stating', ${money.amount}, ${money.currency}, 'load', ${name}
    from unnest(${ids}::uuid[]) as given (id)`.execute(database.db)
  return ids
}

async function goRound(core: BillingCore, ids: readonly string[]): Promise<void> {
  const [owed = '', bought = '', voided = '', mirrored = ''] = ids
  await core.invoices.issue(owed)
  await core.invoices.issue(bought)
  await state(core, paid({ id: bought, ...money }))
  await core.invoices.void((await core.invoices.issue(voided)).id)
  await state(core, {
    type: 'invoice',
    reference: `in_${mirrored}`,
    status: 'paid',
    payment: { id: mirrored },
    ...money,
  })
}

const told = process.env['LOAD']
if (told !== undefined && import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  let isOver = false
  process.once('SIGTERM', () => {
    isOver = true
  })
  await putLoad(JSON.parse(told) as Load, () => isOver)
  process.stdout.write('done\n')
}
