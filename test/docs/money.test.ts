import assert from 'node:assert/strict'
import test from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import { checkoutStates } from '../../src/payments/payment.ts'
import { nextPoll } from '../../src/money/poll-schedule.ts'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { pendingPayment } from '../support/pending-payment.ts'
import { read } from '../tidy/source-files.ts'
import { codeIn, namesIn, section, tableRows } from './markdown.ts'

const page = read('docs/7-money.md')

test('docs/7-money.md explains every state of a checkout, and no other', () => {
  assert.deepEqual(namesIn(section(page, 'States of a checkout')), [...checkoutStates])
})

test('docs/7-money.md says how often a payment is polled', () => {
  const [, , ...rows] = tableRows(section(page, 'Lost callbacks'))
  const listed = rows.map(([, often = '']) => often.replace(/,.*/, ''))
  const handedAt = new Date(0)
  const payment = pendingPayment({ gateway: 'fake', handedAt, expiresAt: new Date(days(2)) })
  const asked = { payment, retryWindow: days(3), isUndecided: false }
  const ages = [minutes(5), hours(1), hours(6), days(1), days(6)]
  const waits = ages.map((age) => {
    const next = nextPoll({ ...asked, now: new Date(age) })
    const inHours = (next ?? 0) / hours(1)
    if (inHours < 1) return `every ${inHours * 60} minutes`
    return inHours < 24 ? `every ${inHours} hours` : 'every day'
  })
  assert.deepEqual(listed, waits)
})

test('docs/8-registration.md names the command of each gateway that is registered', () => {
  const registration = read('docs/8-registration.md')
  const shown = tableRows(section(registration, 'Stripe and Paddle')).slice(1).flat()
  const named = shown.flatMap(codeIn).map((code) => code.replace('quittance ', ''))
  const registered = builtin.filter((gateway) => gateway.registration !== undefined)
  const commands = registered.flatMap(({ name, aliases }) =>
    [name, ...aliases].map((one) => `${one}-register-webhook`),
  )
  assert.deepEqual(named, commands)
})
