import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  renewal,
  transaction,
  transactionId,
  type Fields,
} from '../../../test/gateways/paddle/events.ts'
import { item, managed } from '../../../test/gateways/paddle/subscriptions.ts'
import { isJsonObject, type JsonObject } from '../body/json.ts'
import { parseJson } from '../body/parse-json.ts'
import { paidUntil, statementOf } from './read-subscription.ts'

function jsonOf(value: unknown): JsonObject {
  const parsed = parseJson(JSON.stringify(value))
  assert.ok(parsed.ok && isJsonObject(parsed.value))
  return parsed.value
}

const readingOf = (fields: Fields = {}, charges: readonly Fields[] = []) => ({
  subscription: jsonOf(managed(fields)),
  charges: charges.map(jsonOf),
  first: undefined,
})
const stated = (fields: Fields = {}, charges: readonly Fields[] = []) => {
  const statement = statementOf(readingOf(fields, charges))
  assert.ok(statement)
  return statement
}

const whole = {
  reference: 'sub_01m2z7q4w9e6r8t5y3u1i0o7pb',
  status: 'active',
  amount: 4999n,
  currency: 'USD',
  every: { unit: 'month', count: 1 },
  currentPeriod: {
    startsAt: new Date('2026-01-31T10:00:00.123Z'),
    endsAt: new Date('2026-02-28T10:00:00.123Z'),
  },
  trialEndsAt: null,
  cancelAt: null,
  pauseAt: null,
  resumeAt: null,
  endedAt: null,
  failure: null,
}

test('a subscription is stated in our words, and what is not said is null', () => {
  assert.deepEqual(stated(), whole)
  const ended = { status: 'canceled', canceled_at: '2026-02-01T00:00:00Z' }
  assert.deepEqual(stated({ ...ended, current_billing_period: null }), {
    ...whole,
    status: 'canceled',
    currentPeriod: null,
    endedAt: new Date('2026-02-01T00:00:00Z'),
  })
  for (const period of [null, undefined, {}, { starts_at: 'x', ends_at: 'y' }]) {
    assert.equal(stated({ current_billing_period: period }).currentPeriod, null)
  }
  const backwards = { starts_at: '2026-02-01T00:00:00Z', ends_at: '2026-01-01T00:00:00Z' }
  assert.equal(stated({ current_billing_period: backwards }).currentPeriod, null)
})

test('what matters must be readable: an unknown status, length or price is no statement', () => {
  const unreadable: readonly Fields[] = [
    { id: 'txn_1' },
    { id: null },
    { status: 'expired' },
    { status: null },
    { status: 'toString' },
    { billing_cycle: null },
    { billing_cycle: { interval: 'quarter', frequency: 1 } },
    { billing_cycle: { interval: 'month', frequency: 0 } },
    { billing_cycle: { interval: 'month', frequency: 1.5 } },
    { billing_cycle: { interval: 'month', frequency: '1' } },
    { billing_cycle: { interval: 'month', frequency: 367 } },
    { items: null },
    { items: [] },
    { items: ['x'] },
    { items: [item({}, { unit_price: { amount: '-1', currency_code: 'USD' } })] },
    { items: [item({}, { unit_price: { amount: 4999, currency_code: 'USD' } })] },
    { items: [item({ quantity: 0 })] },
    { items: [item({ quantity: 1.5 })] },
    { items: [item({ quantity: '1' })] },
    { items: [item(), item({}, { unit_price: { amount: '1', currency_code: 'EUR' } })] },
    {
      items: [
        item(
          { quantity: 999_999_999 },
          { unit_price: { amount: '9007199254740991', currency_code: 'USD' } },
        ),
      ],
    },
  ]
  for (const fields of unreadable) {
    assert.equal(statementOf(readingOf(fields)), undefined, JSON.stringify(fields))
  }
})

test('the payer and the page name no payment: only the first transaction does', () => {
  assert.equal('payment' in stated(), false)
  const first = jsonOf(transaction({ subscription_id: 'sub_01m2z7q4w9e6r8t5y3u1i0o7pb' }))
  const statement = statementOf({ ...readingOf(), first })
  assert.deepEqual(statement?.payment, { checkoutReference: transactionId })
})

test('a period costs what its items cost, where no tax is put on top', () => {
  const price = (amount: string) => ({ unit_price: { amount, currency_code: 'USD' } })
  const items = [item({ quantity: 3 }, price('1000')), item({}, price('500'))]
  assert.equal(stated({ items }).amount, 3500n)
  const once = item({ recurring: false }, price('99999'))
  assert.equal(stated({ items: [...items, once] }).amount, 3500n)
  assert.partialDeepStrictEqual(stated({ items: [item({}, price('0'))] }), {
    amount: 0n,
    isFree: true,
  })
  assert.equal(stated({ items }).isFree, undefined)
})

test('where tax, a discount or another currency decides, Paddle says what it comes to', () => {
  const expected = (total: string, currency_code = 'USD') => ({
    recurring_transaction_details: { totals: { total, currency_code } },
  })
  const external = [item({}, { tax_mode: 'external' })]
  assert.equal(stated({ items: external, ...expected('5999') }).amount, 5999n)
  const discount = { discount: { id: 'dsc_1' } }
  assert.equal(stated({ ...discount, ...expected('2500') }).amount, 2500n)
  const hryvnias = stated({ currency_code: 'UAH', ...expected('200000', 'UAH') })
  assert.deepEqual([hryvnias.amount, hryvnias.currency], [200000n, 'UAH'])
  // Our own price is what it is, whatever a preview says.
  assert.equal(stated(expected('1')).amount, 4999n)
  // One that has ended is not previewed.
  assert.equal(stated({ items: external }).amount, 4999n)
  assert.equal(stated({ ...discount, recurring_transaction_details: null }).amount, 4999n)
})

test('a price of its own for some country is not taken for what its payer pays', () => {
  const unit_price_overrides = [
    { country_codes: ['IN'], unit_price: { amount: '900', currency_code: 'USD' } },
  ]
  const items = [item({}, { unit_price_overrides })]
  const expected = { totals: { total: '900', currency_code: 'USD' } }
  assert.equal(stated({ items, recurring_transaction_details: expected }).amount, 900n)
  const plain = [item({}, { unit_price_overrides: [] }), item({}, { unit_price_overrides: null })]
  assert.equal(stated({ items: plain, recurring_transaction_details: expected }).amount, 9998n)
})

test('one that has ended in another currency than its prices costs what it was charged last', () => {
  const ended = {
    status: 'canceled',
    canceled_at: '2026-02-01T00:00:00Z',
    currency_code: 'UAH',
    recurring_transaction_details: null,
  }
  const totals = { total: '200000', currency_code: 'UAH' }
  const extra = renewal({ origin: 'subscription_charge', details: { totals: { total: '1' } } })
  const { status, amount, currency } = stated(ended, [extra, renewal({ details: { totals } })])
  assert.deepEqual([status, amount, currency], ['canceled', 200000n, 'UAH'])
  assert.equal(statementOf(readingOf(ended)), undefined)
})

test('a trial is over when the last of its items is', () => {
  const until = (ends_at: string) =>
    item({ trial_dates: { starts_at: '2026-01-01T00:00:00Z', ends_at } })
  const items = [until('2026-02-03T00:00:00Z'), until('2026-02-01T00:00:00Z'), item()]
  const end = new Date('2026-02-03T00:00:00Z')
  assert.deepEqual(stated({ items, status: 'trialing' }).trialEndsAt, end)
  assert.deepEqual(stated({ items }).trialEndsAt, end)
  assert.equal(stated().trialEndsAt, null)
  assert.deepEqual(stated({ status: 'trialing' }).trialEndsAt, whole.currentPeriod.endsAt)
})

test('what is planned is told as what it is', () => {
  const at = '2026-02-28T10:00:00Z'
  const later = '2026-03-28T10:00:00Z'
  const planned = (scheduled_change: unknown) => {
    const { cancelAt, pauseAt, resumeAt } = stated({ scheduled_change })
    return [cancelAt, pauseAt, resumeAt].map((date) => date?.toISOString().replace('.000', ''))
  }
  const none = undefined
  assert.deepEqual(planned({ action: 'cancel', effective_at: at }), [at, none, none])
  const pause = { action: 'pause', effective_at: at, resume_at: null }
  assert.deepEqual(planned(pause), [none, at, none])
  assert.deepEqual(planned({ ...pause, resume_at: later }), [none, at, later])
  assert.deepEqual(planned({ action: 'resume', effective_at: at }), [none, none, at])
  for (const other of [null, undefined, [], 'cancel', { action: 'move', effective_at: at }, {}]) {
    assert.deepEqual(planned(other), [none, none, none])
  }
})

const attempts = (...codes: readonly (string | null)[]) =>
  codes.map((error_code) => ({ status: 'error', error_code }))
const unpaid = (...codes: readonly (string | null)[]) =>
  renewal({ status: 'past_due', payments: attempts(...codes) })

test('a past due subscription tells its tries, and what its payer must do', () => {
  const failureIn = (...charges: readonly Fields[]) =>
    stated({ status: 'past_due' }, charges).failure
  const needing = (needs: string, attempt = 1) => ({ attempt, nextAttemptAt: null, needs })
  assert.deepEqual(failureIn(unpaid('declined')), needing('nothing'))
  assert.deepEqual(failureIn(unpaid('expired_card', 'declined')), needing('new_card', 2))
  assert.deepEqual(failureIn(unpaid('declined', 'expired_card')), needing('nothing', 2))
  assert.deepEqual(failureIn(unpaid('authentication_failed')), needing('confirmation'))
  assert.deepEqual(failureIn(unpaid(null)), needing('nothing'))
  assert.deepEqual(failureIn(unpaid('toString')), needing('nothing'))
  // What is charged in between is not the period.
  const extra = transaction({ origin: 'subscription_update', payments: attempts('fraud') })
  assert.deepEqual(failureIn(extra, unpaid('blocked_card')), needing('new_card'))
  // Paid meanwhile, or no charge to be seen: the status still says that one failed.
  assert.deepEqual(failureIn(renewal()), needing('nothing'))
  assert.deepEqual(failureIn(), needing('nothing'))
  assert.equal(stated({}, [unpaid('declined')]).failure, null)
})

test('a pause is the end of the retries if its period was tried and never paid', () => {
  const reasonWith = (...charges: readonly Fields[]) =>
    stated({ status: 'paused' }, charges).pauseReason
  const canceled = { ...unpaid('declined'), status: 'canceled' }
  assert.equal(reasonWith(unpaid('declined')), 'payment_failed')
  assert.equal(reasonWith(canceled, renewal()), 'payment_failed')
  assert.equal(reasonWith(renewal(), canceled), undefined)
  assert.equal(reasonWith(renewal({ status: 'canceled', payments: [] })), undefined)
  assert.equal(reasonWith(), undefined)
  assert.equal(stated({}, [canceled]).pauseReason, undefined)
})

test('only a charged period is paid time', () => {
  const until = (...charges: readonly Fields[]) => paidUntil(readingOf({}, charges))
  assert.deepEqual(until(renewal()), whole.currentPeriod.endsAt)
  assert.deepEqual(
    until(transaction({ origin: 'api', status: 'paid' })),
    whole.currentPeriod.endsAt,
  )
  assert.equal(until(renewal({ status: 'billed', payments: [] }), renewal()), undefined)
  assert.equal(until(unpaid('declined'), renewal()), undefined)
  assert.equal(until(), undefined)
  const noPeriod = readingOf({ current_billing_period: null }, [renewal()])
  assert.equal(paidUntil(noPeriod), undefined)
})

test('whatever a field holds, reading throws nothing and states nothing impossible', () => {
  const fields = [...Object.keys(managed()), 'recurring_transaction_details']
  const words = fc.constantFrom<unknown>(
    'cancel',
    'pause',
    'past_due',
    'trialing',
    '2026-01-01T00:00:00Z',
  )
  const damage = fc.dictionary(fc.constantFrom(...fields), fc.oneof(fc.jsonValue(), words))
  const payments = fc.oneof(fc.jsonValue(), fc.constant(attempts('declined')))
  fc.assert(
    fc.property(damage, payments, (changes, value) => {
      const statement = statementOf(readingOf(changes, [renewal({ payments: value })]))
      if (statement === undefined) return
      assert.match(statement.reference, /^sub_[a-z0-9]+$/)
      assert.ok(statement.amount >= 0n && statement.every.count >= 1)
      const { currentPeriod, cancelAt, pauseAt, resumeAt, trialEndsAt, endedAt } = statement
      if (currentPeriod) assert.ok(currentPeriod.startsAt < currentPeriod.endsAt)
      for (const time of [cancelAt, pauseAt, resumeAt, trialEndsAt, endedAt]) {
        assert.ok(time === null || !Number.isNaN(time.getTime()))
      }
    }),
    { numRuns: 500 },
  )
})
