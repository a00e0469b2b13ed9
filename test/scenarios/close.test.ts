import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openBilling, sendFake } from '../support/billing.ts'
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
})
