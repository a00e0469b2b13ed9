import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createBilling } from '../create-billing.ts'

const billing = createBilling({ database: { memory: true } })
before(() => billing.migrate())
after(() => billing.close())

/** As a program in JavaScript may ask: no compiler has looked. */
const lists: Readonly<Record<string, (query: object) => Promise<unknown>>> = {
  payments: (query) => billing.payments.list(query),
  paymentMethods: (query) => billing.paymentMethods.list(query),
}

for (const [name, list] of Object.entries(lists)) {
  test(`${name}: a filter that says nothing is refused, and does not list those of everybody`, async () => {
    for (const [query, message] of [
      [{ customerId: '7' }, 'unknown field "customerId"'],
      [{ customer: undefined }, 'customer is undefined; to list those of everybody, leave it out'],
      [{ customer: 7 }, /^customer must be text /],
      [{ customer: null }, /^customer must be text /],
    ] as const) {
      await assert.rejects(list(query), { code: 'payment_invalid', message })
    }
  })

  test(`${name}: what may be left out may be undefined`, async () => {
    const page = { gateway: undefined, status: undefined, limit: undefined, cursor: undefined }
    assert.deepEqual(await list({ customer: '7', ...page }), { data: [], nextCursor: null })
  })
}
