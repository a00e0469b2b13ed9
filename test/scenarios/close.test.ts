import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { workerApplicationName } from '../../src/queue/database.ts'
import { openProxied, type ProxiedBilling } from '../intake/proxied.ts'
import { newPayment, openBilling, sendFake, until } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onPostgres } from '../support/databases.ts'

onPostgres((engine) => {
  test('a call that is answered right before closing is still announced to other processes', async () => {
    const { log, lines } = capturedLog()
    await using billing = await openBilling(engine, { log })
    // The first is announced at once; the second has to wait for its turn.
    for (let count = 0; count < 2; count += 1) {
      assert.equal((await sendFake(billing.core, randomUUID(), 'success')).status, 200)
    }
    await billing.core.close()
    await pause(100)
    assert.deepEqual(
      lines.filter(({ level }) => Number(level) >= 40),
      [],
    )
  })

  for (const [what, end] of [
    ['is answered', (_billing: ProxiedBilling, release: () => void) => release()],
    ['is repeated', ({ proxy }: ProxiedBilling) => proxy.cut()],
  ] as const) {
    test(`a call whose flush ${what} while the worker has stopped is for other processes, at once`, async () => {
      await using billing = await openProxied(engine)
      const { core, direct, proxy, told } = billing
      await core.work()
      await sendFake(core, (await newPayment(core)).id, 'success')
      await until(() => told.length === 1, { what: 'the worker takes calls' })
      const held = proxy.next(/^insert into billing\.webhook_calls/, 'hold_answer')
      const answer = sendFake(core, (await newPayment(core)).id, 'success')
      await held.struck
      const closed = core.close()
      await until(() => nobodyListens(billing), { what: 'the worker stops' })
      await pause(100)
      end(billing, held.release)
      assert.equal((await answer).status, 200)
      await closed
      const { rows } = await direct.query(
        'select state, lease_token from billing.webhook_calls order by id desc limit 1',
      )
      assert.deepEqual(rows, [{ state: 'pending', lease_token: null }])
    })
  }
})

async function nobodyListens({ direct }: ProxiedBilling): Promise<boolean> {
  const { rows } = await direct.query(
    `select where exists (select from pg_stat_activity
       where datname = current_database() and application_name = $1)`,
    [workerApplicationName],
  )
  return rows.length === 0
}
