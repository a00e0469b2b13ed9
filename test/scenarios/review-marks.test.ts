import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import { ignoredReasons, reasons } from '../../src/payments/reasons.ts'
import { openService, type Service } from '../spec/callback-service.ts'
import { idle } from '../support/billing.ts'
import { postgres } from '../support/databases.ts'
import { marks, type Cell, type Report } from './review-marks.ts'

/** Which signed reports that change nothing a person must look at, for every gateway and reason. */
let service: Service
before(async () => {
  service = await openService(postgres)
})
after(() => service[Symbol.asyncDispose]())

const decided = ignoredReasons.filter((reason) => reasons[reason].byGateway !== undefined)

/** Sends every report at once: none has to wait for the end of another. */
async function sendAll(name: string, reports: readonly Report[]) {
  const sent: { readonly report: Report; readonly payment: string; readonly call: string }[] = []
  for (const report of reports) {
    const payment = await service.pay(name, report.payment?.() ?? {})
    const { headers, body } = report.make(payment)
    const target = `/billing/webhooks/${name}`
    const call = { gateway: name, target, headers, body: Buffer.from(body) }
    assert.equal((await service.core.receive(call)).status, 200, report.what)
    const [stored] = (await service.core.calls.list({ limit: 1 })).data
    sent.push({ report, payment: payment.id, call: stored?.id ?? '' })
  }
  assert.equal(new Set(sent.map(({ call }) => call)).size, reports.length)
  await idle(service.core)
  return sent
}

for (const { name } of builtin.filter((one) => Object.hasOwn(marks, one.name))) {
  describe(name, () => {
    const cells: Readonly<Record<string, Cell>> = marks[name] ?? {}

    test('it says of every reason whether a person must look', () => {
      assert.deepEqual(Object.keys(cells).toSorted(), decided.toSorted())
    })

    for (const reason of decided) {
      const cell = cells[reason] ?? []
      if (typeof cell === 'string') continue
      test(`${reason}: a person looks where the table says so, and nowhere else`, async () => {
        for (const { report, payment, call } of await sendAll(name, cell)) {
          const { outcome, needsReview } = (await service.core.calls.get(call)) ?? {}
          const [first] = outcome ?? []
          const { status, events } = (await service.core.payments.get(payment)) ?? {}
          // An invoice is told as a document besides.
          assert.deepEqual(
            [first?.result === 'ignored' && first.reason, needsReview, status, events],
            [reason, report.review, 'pending', []],
            report.what,
          )
        }
      })
    }
  })
}
