import assert from 'node:assert/strict'
import test from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import { checkoutStates } from '../../src/payments/payment.ts'
import { pollInterval } from '../../src/money/poll-schedule.ts'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { read } from '../tidy/source-files.ts'
import { codeIn, namesIn, section, tableRows } from './markdown.ts'

const page = read('docs/7-money.md')
const said = (can: boolean) => (can ? 'yes' : '')

test('docs/7-money.md says what each gateway can do', () => {
  const [, ...rows] = tableRows(section(page, 'What each gateway can do'))
  const can = builtin.map(({ name, capabilities, ...gateway }) => [
    `\`${name}\``,
    said(capabilities.checkout),
    said(capabilities.poll),
    said(capabilities.refund),
    said(capabilities.partialRefund),
    said(gateway.chargeSavedCard !== undefined),
    said(gateway.closeCheckout !== undefined),
    said(capabilities.registerWebhook),
    said(gateway.backfill !== undefined),
  ])
  assert.deepEqual(rows, can)
})

test('docs/7-money.md explains every state of a checkout, and no other', () => {
  assert.deepEqual(namesIn(section(page, 'States of a checkout')), [...checkoutStates])
})

test('docs/7-money.md says how often a payment is asked after', () => {
  const ages = [minutes(5), hours(1) - 1, hours(6) - 1, days(1) - 1, days(1)]
  const [, , ...rows] = tableRows(section(page, 'Lost callbacks'))
  const wait = (age: number) => {
    const inMinutes = pollInterval(age) / minutes(1)
    return inMinutes < 60 ? `every ${inMinutes} minutes` : `every ${inMinutes / 60} hours`
  }
  assert.deepEqual(
    rows.map(([, often = '']) => often.replace(/,.*/, '')),
    ages.slice(1).map(wait),
  )
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
