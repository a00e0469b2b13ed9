import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSettings } from '../../billing/settings.ts'
import type { IntervalInput } from '../../subscriptions/interval.ts'
import { findNeverDue } from './check-health.ts'

const price = { amount: 4900, currency: 'UAH' } as const

function found(
  every: IntervalInput,
  leads: { readonly period?: number[]; readonly trial?: number[] },
) {
  const settings = readSettings({
    plans: { pro: { ...price, every, trialDays: 7 } },
    subscriptions: { periodNoticeDays: leads.period ?? [], trialNoticeDays: leads.trial ?? [] },
  })
  return findNeverDue(settings).map((finding) => finding.found)
}

test('a notice never comes whose lead is no shorter than the longest period or the trial', () => {
  const never = (lead: number, what: string) => [
    `the notice ${lead} days before the end of a ${what}`,
  ]
  assert.deepEqual(
    found('week', { period: [7] }),
    never(7, 'period never comes for plan pro, which renews every week'),
  )
  assert.deepEqual(
    found('2 months', { period: [62] }),
    never(62, 'period never comes for plan pro, which renews every 2 months'),
  )
  assert.deepEqual(
    found('month', { trial: [7] }),
    never(7, 'trial never comes for plan pro, whose trial takes 7 days'),
  )
})

test('a notice that comes in long months alone, or beside others, is no fault', () => {
  for (const [every, lead] of [
    ['month', 30],
    ['2 months', 61],
    ['year', 365],
  ] as const) {
    assert.deepEqual(found(every, { period: [lead] }), [], every)
  }
  assert.deepEqual(found('week', { period: [14, 3], trial: [6, 30] }), [])
})
