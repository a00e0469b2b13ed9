import { pathToFileURL } from 'node:url'
import { coreOf } from '../../src/billing/create-core.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import { insertInvoice } from '../../src/database/invoices.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { draftInvoice } from '../../src/invoices/draft-invoice.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { issuing, seller } from './sellers.ts'
import { muchPatience } from '../support/patience.ts'

/** What a process is told to do. */
export interface Numbering {
  readonly database: NonNullable<BillingOptions['database']>
  readonly paymentIds: readonly string[]
  /** How many documents are written besides, and rolled back. */
  readonly undone: number
}

/** Issues a document for each payment, many at once, and rolls others back after their number. */
export async function number({ database, paymentIds, undone }: Numbering): Promise<void> {
  const runtime = createRuntime({ database, invoices: issuing }, { patience: muchPatience })
  const core = coreOf(runtime)
  const opened = await runtime.opened()
  const invoicing = { seller, series: 'INV-{year}', dueDays: 0, timeZone: 'UTC' }
  const rollBack = async () => {
    const now = new Date()
    const charged = {
      amount: 100n,
      currency: 'USD',
      description: 'never',
      payable: { type: 'order', id: '1' },
      customer: null,
      live: null,
    }
    const draft = draftInvoice(charged, {}, { invoicing, now })
    const isUndone = new Error('rolled back')
    await opened.database
      .transaction(async ({ db }) => {
        await insertInvoice(db, draft, {
          id: newUuid(),
          gateway: 'fake',
          merchantAccount: null,
          subscriptionId: null,
          periodId: null,
          paymentId: null,
          paidAt: null,
          origin: { newId: newUuid, cause: 'operator', callId: null, queue: 'default' },
        })
        throw isUndone
      })
      .catch((error: unknown) => {
        if (error !== isUndone) throw error
      })
  }
  const waiting = [
    ...paymentIds.map((id) => () => core.invoices.issue(id)),
    ...Array.from({ length: undone }, () => rollBack),
  ].toSorted(() => Math.random() - 0.5)
  const lane = async () => {
    for (let work = waiting.pop(); work !== undefined; work = waiting.pop()) await work()
  }
  await Promise.all(Array.from({ length: 4 }, lane))
  await core.close()
}

const told = process.env['NUMBERING']
if (told !== undefined && import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await number(JSON.parse(told) as Numbering)
  process.stdout.write('done\n')
}
