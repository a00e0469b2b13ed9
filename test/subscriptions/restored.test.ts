import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { days, hours } from '../../src/kernel/duration.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { providers } from '../money/providers.ts'
import { gatewayOf } from '../spec/callbacks.ts'
import { onPostgres } from '../support/databases.ts'
import { dumpTables, restoreTables } from '../support/dump.ts'
import { openChargingProvider, type ChargingProvider } from './charging-provider.ts'

/** monobank knows no id of ours: after a restore it is asked for another charge. */
const knowsNoIdOfOurs = 'monobank'

const softDeclines: Readonly<Record<string, string>> = {
  stripe: 'insufficient_funds',
  liqpay: 'limit',
  wayforpay: '1104',
  monobank: '59',
  hutko: '1004',
}

onPostgres((engine) => {
  for (const [name, start] of providers) {
    if (gatewayOf(name).chargeSavedCard === undefined) continue

    describe(`a dump is restored, with charges at ${name}`, () => {
      let at: ChargingProvider
      before(async () => {
        at = await openChargingProvider(engine, await start())
      })
      after(() => at.close())

      /** Whatever the provider has said, the poll tells how it stands. */
      const pollAll = async (of: { readonly id: string }) => {
        for (const { id, status } of await at.payments(of)) {
          if (status === 'pending') await pollPayment(id, at.context)
        }
      }

      test('case 12: what was charged after the dump is charged once, and granted', async () => {
        const made = await at.subscribe()
        await dumpTables(at.billing.database)
        at.pass(days(11))
        await at.run()
        const [first] = await at.payments(made)
        assert.equal(first?.status, 'paid')
        await restoreTables(at.billing.database)
        assert.deepEqual(await at.payments(made), [])
        at.provider.takeFaults()
        const before = at.asked()
        await at.run()
        assert.equal(at.asked() - before, 1)
        const [again] = await at.payments(made)
        assert.equal(again?.id, first.id)
        assert.notEqual(again?.status, 'failed')
        assert.notEqual(again?.checkout, 'refused')
        assert.equal((await at.state(made)).status, 'active')
        await pollAll(made)
        at.provider.takeFaults()
        assert.deepEqual(
          (await at.payments(made)).map(({ status }) => status),
          ['paid'],
        )
        const [, period] = await at.periods(made)
        assert.deepEqual([period?.state, period?.paidPaymentId], ['paid', first.id])
        assert.equal(at.provider.charges(first.id), name === knowsNoIdOfOurs ? 2 : 1)
        assert.deepEqual(await at.reviews(), [])
        at.pass(hours(2))
        await at.run()
        assert.equal(at.asked() - before, 1)
      })

      test('case 12: what was declined after the dump is declined once, and tried again as planned', async () => {
        const made = await at.subscribe()
        await dumpTables(at.billing.database)
        at.provider.declineCharges?.(softDeclines[name])
        at.pass(days(11))
        await at.run()
        const [first] = await at.payments(made)
        assert.equal(first?.status, 'failed')
        await restoreTables(at.billing.database)
        at.provider.takeFaults()
        await at.run()
        await pollAll(made)
        at.provider.takeFaults()
        const [again] = await at.payments(made)
        assert.deepEqual([again?.id, again?.status], [first.id, 'failed'])
        assert.equal((await at.state(made)).status, 'past_due')
        at.provider.declineCharges?.(undefined)
        at.pass(days(1) + hours(1))
        await at.run()
        assert.deepEqual(
          (await at.payments(made)).map(({ status }) => status),
          ['failed', 'paid'],
        )
        assert.equal((await at.state(made)).status, 'active')
      })

      test('case 12: a charge under way at the dump is found, however its provider took it', async () => {
        const made = await at.subscribe()
        at.provider.misbehave('charge', 'cut')
        at.pass(days(11))
        await at.run()
        const [first] = await at.payments(made)
        assert.ok(first)
        assert.deepEqual([first.status, first.checkout], ['pending', 'unknown'])
        await dumpTables(at.billing.database)
        await pollAll(made)
        await restoreTables(at.billing.database)
        const before = at.asked()
        await pollAll(made)
        await at.run()
        assert.equal(at.asked(), before)
        assert.deepEqual(
          (await at.payments(made)).map(({ id, status }) => [id, status]),
          [[first.id, 'paid']],
        )
        assert.equal((await at.state(made)).status, 'active')
      })
    })
  }
})
