import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { openProxied, type ProxiedBilling } from '../intake/proxied.ts'
import { newPayment, openBilling, sendFake, until } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onPostgres } from '../support/databases.ts'

onPostgres((engine) => {
  test('a call that is answered right before closing is still announced to other processes', async () => {
    const { log, lines } = capturedLog()
    await using billing = await openBilling(engine, { log })
    const elsewhere = new pg.Client({ connectionString: billing.url })
    await elsewhere.connect()
    let heard = 0
    elsewhere.on('notification', () => (heard += 1))
    await elsewhere.query('listen quittance_calls')
    // The first is announced at once; the second has to wait for its turn.
    for (let count = 0; count < 2; count += 1) {
      assert.equal((await sendFake(billing.core, randomUUID(), 'success')).status, 200)
    }
    await billing.core.close()
    await until(() => heard === 2, { what: 'both are announced' })
    await elsewhere.end()
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
      const worker = await core.work()
      await sendFake(core, (await newPayment(core)).id, 'success')
      await until(() => told.length === 1, { what: 'the worker takes calls' })
      const held = proxy.next(/^insert into billing\.webhook_calls/, 'hold_answer')
      const answer = sendFake(core, (await newPayment(core)).id, 'success')
      await held.struck
      const closed = core.close()
      await worker.ended
      end(billing, held.release)
      assert.equal((await answer).status, 200)
      await closed
      const { rows } = await direct.query(
        'select state, lease_token from billing.webhook_calls order by id desc limit 1',
      )
      assert.deepEqual(rows, [{ state: 'pending', lease_token: null }])
    })
  }

  test('close() while work() is under way leaves nothing running', async () => {
    await using billing = await openBilling(engine)
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length
    const before = timers()
    const working = billing.core.work()
    await new Promise(setImmediate)
    await billing.core.close()
    const worker = await working.catch(() => undefined)
    await until(() => timers() <= before, { what: 'no timer of it is left' })
    await worker?.stop()
  })
})
