import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import { ignoredReasons } from '../../src/payments/outcome.ts'
import { openService, type Service } from '../spec/callback-service.ts'
import { embedded } from '../support/databases.ts'
import { decidedBy, marks } from './review-marks.ts'

/** Which signed reports that change nothing a person must look at, for every gateway and reason. */
let service: Service
before(async () => {
  service = await openService(embedded)
})
after(() => service[Symbol.asyncDispose]())

test('every reason is decided by somebody, and no other is', () => {
  assert.deepEqual(Object.keys(decidedBy).toSorted(), [...ignoredReasons].toSorted())
})

const reasons = ignoredReasons.filter((reason) => decidedBy[reason] === 'gateway')

for (const { name } of builtin.filter((one) => Object.hasOwn(marks, one.name))) {
  describe(name, () => {
    const cells: Readonly<Record<string, (typeof marks)[string][keyof (typeof marks)[string]]>> =
      marks[name] ?? {}

    test('it says of every reason whether a person must look', () => {
      assert.deepEqual(Object.keys(cells).toSorted(), reasons.toSorted())
    })

    for (const reason of reasons) {
      const cell = cells[reason] ?? []
      for (const { what, review, make, payment: fields = () => ({}) } of typeof cell === 'string'
        ? []
        : cell) {
        test(`${reason}: ${what}: ${review ? 'a person looks' : 'nobody has to'}`, async () => {
          const payment = await service.pay(name, fields())
          const { status, outcome, ...result } = await service.send(payment, make(payment))
          // An invoice is told as a document besides.
          assert.deepEqual([status, outcome?.[0]], [200, reason])
          assert.deepEqual(result, { review, payment: 'pending', events: [] })
        })
      }
    }
  })
}
