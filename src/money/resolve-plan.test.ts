import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isQuittanceError } from '../kernel/errors.ts'
import { resolveTerms } from './resolve-plan.ts'
import { readSubscriptionInput } from './subscription-input.ts'

const month = { unit: 'month', count: 1 } as const
const year = { unit: 'year', count: 1 } as const
const pro = { amount: 19_900n, currency: 'UAH', every: month, trialDays: 14 }
const plans = { pro, basic: { ...pro, amount: 9_900n, trialDays: 0 } }
const base = { gateway: 'fake', payable: { type: 'account', id: '7' } }

function refusal(input: object, known: typeof plans | Record<string, never> = plans): string {
  try {
    resolveTerms(readSubscriptionInput('create', { ...base, ...input }), known)
    return 'the input was taken'
  } catch (error) {
    assert.ok(isQuittanceError(error), String(error))
    assert.equal(error.code, 'subscription_invalid')
    return error.message
  }
}

test('a plan is copied, and what is given beside it counts instead', () => {
  assert.deepEqual(resolveTerms({ plan: 'pro' }, plans), {
    plan: 'pro',
    amount: 19_900n,
    currency: 'UAH',
    every: month,
    trial: { days: 14 },
  })
  const dear = resolveTerms({ plan: 'pro', amount: 1n, every: year, trialDays: 0 }, plans)
  assert.deepEqual(dear, { plan: 'pro', amount: 1n, currency: 'UAH', every: year, trial: null })
  const endsAt = new Date('2027-01-01T00:00:00Z')
  assert.deepEqual(resolveTerms({ plan: 'pro', trialEndsAt: endsAt }, plans).trial, { endsAt })
})

test('what was paid elsewhere goes on without the trial of its plan', () => {
  assert.equal(resolveTerms({ plan: 'pro', paidUntil: new Date() }, plans).trial, null)
})

test('without a plan, the terms are those given, without a trial', () => {
  const terms = { amount: 100n, currency: 'EUR', every: year }
  assert.deepEqual(resolveTerms(terms, {}), { plan: null, ...terms, trial: null })
})

test('an input that cannot be meant is refused by the field at fault', () => {
  for (const [input, message] of [
    [{ plan: 'por' }, /^plan "por" is unknown; did you mean pro\? There are pro, basic$/],
    [{ plan: 'constructor' }, /^plan "constructor" is unknown; there are pro, basic$/],
    [{}, /^amount is required, or a plan$/],
    [{ amount: 100, every: 'month' }, /^currency is required, or a plan$/],
    [{ amount: 100, currency: 'UAH' }, /^every is required, or a plan$/],
    [{ plan: 'pro', every: 'fortnight' }, /^every must be day, week, month or year/],
    [{ plan: 'pro', amount: null }, /^amount must be a whole number/],
    [{ plan: 'pro', trialDays: 1.5 }, /^trialDays must be a whole number of days from 0 to 730$/],
    [
      { plan: 'pro', trialDays: 3, trialEndsAt: new Date() },
      /^trialEndsAt is given beside a number of days$/,
    ],
    [{ plan: 'pro', trialDays: 3, paidUntil: new Date() }, /^paidUntil is given beside a trial$/],
    [{ plan: 'pro', timeZone: 'Kyiv' }, /^timeZone must be the IANA name of a time zone/],
    [
      { plan: 'pro', trialdays: 3 },
      /^unknown field "trialdays"; did you mean trialDays\? There are id, /,
    ],
    [{ plan: 'pro', payable: '7' }, /^payable must be \{type, id\}$/],
    [{ plan: 'pro', id: 'A' }, /^id must be a UUID$/],
  ] as const) {
    assert.match(refusal(input), message)
  }
  assert.match(refusal({ plan: 'pro' }, {}), /^plan "pro" is unknown; the settings have no plans$/)
})
