import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BillingCore } from '../../src/billing/types.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

/** As JavaScript passes it on: nothing has checked it. */
const untyped = (query: unknown) => query as never

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())

  const asked: Readonly<Record<string, (core: BillingCore, query: never) => Promise<unknown>>> = {
    'payments.list': ({ payments }, query) => payments.list(query),
    'paymentMethods.list': ({ paymentMethods }, query) => paymentMethods.list(query),
    'calls.list': ({ calls }, query) => calls.list(query),
    'events.list': ({ events }, query) => events.list(query),
    'calls.replayFailed': ({ calls }, query) => calls.replayFailed(query),
  }
  for (const [name, ask] of Object.entries(asked)) {
    test(`${name} refuses a field that it does not know, where it would take all`, async () => {
      const refusals = [
        [{ gatway: 'fake' }, /^unknown field "gatway"/],
        [{ toString: 'fake' }, /^unknown field "toString"/],
        ['order:42', /^the query must be an object with fields$/],
        [new Map([['gateway', 'fake']]), /^the query must be an object with fields$/],
      ] as const
      for (const [query, message] of refusals) {
        await assert.rejects(ask(billing.core, untyped(query)), (error) => {
          assert.ok(isQuittanceError(error), String(error))
          assert.equal(error.code, 'query_invalid')
          assert.match(error.message, message)
          return true
        })
      }
    })
  }

  test('events of no type, and of what has no such id, are none', async () => {
    const { events } = billing.core
    for (const query of [{ type: [] }, { paymentId: 'x' }, { subscriptionId: 'x' }]) {
      assert.deepEqual(await events.list(query), { data: [], nextCursor: null })
    }
  })

  for (const name of ['payments.list', 'paymentMethods.list']) {
    test(`${name} refuses a filter that says nothing, and does not list those of everybody`, async () => {
      const ask = asked[name]
      assert.ok(ask)
      const refusals = [
        [undefined, 'customer is undefined; to list those of everybody, leave it out'],
        [7, /^customer must be text /],
        [null, /^customer must be text /],
      ] as const
      for (const [customer, message] of refusals) {
        for (const query of [{ customer }, Object.create({ customer })]) {
          const answer = ask(billing.core, untyped(query))
          await assert.rejects(answer, { code: 'query_invalid', message })
        }
      }
      const page = { gateway: undefined, status: undefined, limit: undefined, cursor: undefined }
      const found = await ask(billing.core, untyped({ customer: '7', ...page }))
      assert.deepEqual(found, { data: [], nextCursor: null })
    })
  }

  test('the name that was probably meant is said', async () => {
    const payable = { type: 'order', id: '42' }
    await assert.rejects(billing.core.payments.list(untyped({ payble: payable })), {
      message:
        'unknown field "payble"; did you mean payable? There are limit, cursor, gateway, status, payable, customer',
    })
  })
})
