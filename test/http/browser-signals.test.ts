import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { browserSignals } from '../../src/http/pages/browser-signals.ts'
import { shareLooks } from '../../src/http/share-looks.ts'
import { minutes } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { pendingPayment } from '../support/pending-payment.ts'
import { capturedLog, eventually } from './service.ts'

describe('what a browser did is sent', () => {
  // Nothing of it is asked but what the tests replace, so its database is never opened.
  const open = createCore({ database: { memory: true } })
  const payment = pendingPayment({ gateway: 'fake', id: newUuid() })

  /** Signals whose outcomes a test sets, at a time that it sets. */
  function scripted() {
    const state = { time: Date.parse('2026-11-20T12:00:00Z'), works: false, sent: 0 }
    const signal = () => {
      state.sent += 1
      return Promise.resolve(state.works)
    }
    const core: BillingCore = { ...open, payments: { ...open.payments, signal } }
    const send = browserSignals(core, { log: silentLog, now: () => new Date(state.time) })
    const visit = async (of: Payment = payment) => {
      send('PaymentLinkOpened', of)
      await turn()
    }
    return { state, visit }
  }

  test('again after a failure, each time after twice as long, at last every hour', async () => {
    const { state, visit } = scripted()
    await visit()
    for (const [failures, pause] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      state.time += minutes(pause) - 1
      await visit()
      assert.equal(state.sent, failures + 1, `too early for another after ${pause} minutes`)
      state.time += 1
      await visit()
      await eventually(() => Promise.resolve(state.sent === failures + 2 || undefined))
      await turn()
    }
  })

  test('never again once it was dispatched', async () => {
    const { state, visit } = scripted()
    state.works = true
    await visit()
    state.time += minutes(10_000)
    await visit()
    assert.equal(state.sent, 1)
  })

  test('of so many payments as are remembered: then the oldest is asked about again', async () => {
    const { state, visit } = scripted()
    state.works = true
    await visit()
    for (let others = 0; others < 10_000; others += 1) await visit({ ...payment, id: newUuid() })
    assert.equal(state.sent, 10_001)
    await visit()
    assert.equal(state.sent, 10_002)
  })

  test('unless too many wait, which is counted and logged once', async () => {
    const { log, logged } = capturedLog()
    const signal = () => new Promise<boolean>(() => {})
    const core: BillingCore = { ...open, payments: { ...open.payments, signal } }
    const send = browserSignals(core, { log, now: () => new Date() })
    const visit = () => send('PaymentLinkOpened', { ...payment, id: newUuid() })
    for (let waiting = 0; waiting < 1_001; waiting += 1) visit()
    assert.deepEqual(logged, [])
    for (let more = 0; more < 3; more += 1) visit()
    assert.equal(logged.length, 1)
    assert.match(logged[0] ?? '', /"level":40.*"dropped":1,"signals":\{"PaymentLinkOpened":1\}/)
  })
})

test('a look that is shared begins after everybody who shares it has asked', async () => {
  const looks: PromiseWithResolvers<string>[] = []
  const find = shareLooks(() => {
    const look = Promise.withResolvers<string>()
    looks.push(look)
    return look.promise
  })
  const first = find('a')
  const second = [find('a'), find('a')]
  await turn()
  assert.equal(looks.length, 1)
  looks[0]?.resolve('before')
  assert.equal(await first, 'before')
  await turn()
  assert.equal(looks.length, 2)
  const third = find('a')
  looks[1]?.reject(new Error('away'))
  const outcomes = await Promise.allSettled(second)
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await turn()
  looks[2]?.resolve('after')
  assert.equal(await third, 'after')
  void find('a')
  await turn()
  assert.equal(looks.length, 4, 'nothing is remembered')
})
