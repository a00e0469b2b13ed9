import { test } from 'node:test'
import type { Database } from '../../src/database/connect.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { webhookCalls } from '../../src/queue/calls.ts'
import type { Lease } from '../../src/leases/leased-table.ts'
import { startLanes } from '../../src/worker/lanes.ts'
import { until } from '../support/billing.ts'

const rowOf = (id: string): Lease => ({ id, token: 'x' })

test('rows that wait are not passed over for ever by those that are handed over', async () => {
  const waiting: Lease[] = []
  const handled = new Set<string>()
  /** Ends one that is being handled, the oldest first. */
  const ends: (() => void)[] = []
  let given = 0
  const lanes = startLanes<Lease>({
    table: webhookCalls,
    // Only reached to extend and release leases, which these rows do not have.
    database: {} as Database,
    log: silentLog,
    newId: newUuid,
    least: 16,
    most: 16,
    pollEvery: 100,
    anyAlone: async () => false,
    take: async ({ limit }) => waiting.splice(0, limit),
    // One by one: those that wait are never few when the next ones are handed over.
    handle: ({ id }) =>
      new Promise<void>((resolve) => {
        ends.push(() => {
          handled.add(id)
          resolve()
        })
      }),
  })
  const fill = () => {
    const rows = Array.from({ length: lanes.room() }, () => rowOf(`given ${(given += 1)}`))
    void lanes.give(rows)
  }
  const fillingUntil = (isSo: () => boolean, what: string) => {
    const endAndFill = () => {
      ends.shift()?.()
      fill()
      return isSo()
    }
    return until(endAndFill, { what, everyMs: 1 })
  }
  try {
    await fillingUntil(() => handled.size > 50, 'some are handled')
    waiting.push(rowOf('old'))
    await fillingUntil(() => handled.has('old'), 'it is handled')
    const before = given
    await fillingUntil(() => given > before, 'others are handed over again')
  } finally {
    for (const end of ends) end()
    await lanes.stop(1_000)
  }
})
