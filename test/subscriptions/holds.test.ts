import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from 'kysely'
import {
  holdCharges,
  listHeldCharges,
  readChargeHolds,
  releaseCharges,
  restGateway,
} from '../../src/database/charge-holds.ts'
import { minutes } from '../../src/kernel/duration.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { rollingBack } from '../support/rolled-back.ts'

onAnyDatabase((engine) => {
  suite('what keeps saved cards from being charged by schedule', () => {
    const rolledBack = rollingBack(engine)

    test(
      'a hold is of all gateways and lasts until it is released',
      rolledBack(async (db) => {
        assert.equal((await readChargeHolds(db, ['fake'])).reasonOf('fake'), null)
        await holdCharges(db, 'by the operator')
        assert.equal((await readChargeHolds(db, ['fake'])).reasonOf('fake'), 'by the operator')
        assert.deepEqual(await listHeldCharges(db), [
          { gateway: null, reason: 'by the operator', until: null },
        ])
        await releaseCharges(db)
        assert.equal((await readChargeHolds(db, ['fake'])).reasonOf('fake'), null)
        assert.deepEqual(await listHeldCharges(db), [])
      }),
    )

    test(
      'a gateway rests alone and for its time; a shorter rest does not end a longer one',
      rolledBack(async (db) => {
        await restGateway(db, 'fake', { reason: 'the key has expired', length: minutes(60) })
        await restGateway(db, 'fake', { reason: 'no answer', length: minutes(5) })
        assert.equal((await readChargeHolds(db, ['fake'])).reasonOf('fake'), 'no answer')
        assert.equal((await readChargeHolds(db, ['stripe'])).reasonOf('stripe'), null)
        const pass = (time: number) =>
          sql`update billing.schedules set
            next_run_at = next_run_at - make_interval(mins => ${time}::int)`.execute(db)
        await pass(59)
        assert.equal((await readChargeHolds(db, ['fake'])).reasonOf('fake'), 'no answer')
        await pass(2)
        assert.equal((await readChargeHolds(db, ['fake'])).reasonOf('fake'), null)
        assert.deepEqual(await listHeldCharges(db), [])
      }),
    )
  })
})
