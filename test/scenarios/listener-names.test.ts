import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'

const run = () => {}

/** Registration as JavaScript can write it: nothing is checked before it runs. */
type Anything = (...args: readonly unknown[]) => void

const onForm = "billing.on('PaymentSucceeded', 'grantAccess', listener)"
const optionForm = "listeners: { grantAccess: { on: 'PaymentSucceeded', run: listener } }"

function refused(code: string, ...texts: readonly string[]) {
  return (error: unknown) => {
    assert.ok(isQuittanceError(error), String(error))
    assert.equal(error.code, code)
    const said = `${error.message} — ${error.fix}`
    for (const text of texts) assert.ok(said.includes(text), `${text} is not in: ${said}`)
    return true
  }
}

describe('billing.on', () => {
  const on: Anything = (...args) => (createCore().on as Anything)(...args)

  for (const [what, args] of [
    ['a listener without a name', ['PaymentSucceeded', run]],
    ['a function that has a name of its own', ['PaymentSucceeded', function grant() {}]],
    ['a name among the options', ['PaymentSucceeded', run, { name: 'grant' }]],
    ['no listener at all', ['PaymentSucceeded']],
    ['an empty name', ['PaymentSucceeded', '', run]],
  ] as const) {
    test(`refuses ${what}, and shows how it is written`, () => {
      assert.throws(() => on(...args), refused('listener_unnamed', 'PaymentSucceeded', onForm))
    })
  }

  test('refuses a misspelt option, and one that the form before this one had', () => {
    for (const option of ['queud', 'name']) {
      const args = ['PaymentSucceeded', 'grant', run, { [option]: 'grant' }] as const
      const expected = refused('setting_invalid', `"${option}"`, 'docs/4-listeners.md')
      assert.throws(() => on(...args), expected)
    }
  })

  test('takes a name once, whatever it listens to; several events are a list', () => {
    const core = createCore({ listeners: { grant: { on: 'PaymentSucceeded', run } } })
    const expected = refused(
      'listener_duplicate',
      'grant',
      'PaymentSucceeded',
      'PaymentFailed, PaymentCanceled',
      'takes a list',
    )
    for (const options of [{}, { queued: true }] as const) {
      const again = () =>
        (core.on as Anything)(['PaymentFailed', 'PaymentCanceled'], 'grant', run, options)
      assert.throws(again, expected)
    }
    core.on(['PaymentFailed', 'PaymentCanceled', 'PaymentFailed'], 'reopen', run)
  })
})

describe('The option listeners', () => {
  const create = (listeners: unknown) => createCore({ listeners } as BillingOptions)

  for (const [what, entry] of [
    ['a function', run],
    ['a function with a name', function grant() {}],
    ['a list', [run]],
    ['the options of a listener', { name: 'grant', listener: run }],
    ['nothing', undefined],
  ] as const) {
    test(`has names as keys: ${what} under an event is refused, and shown how it is written`, () => {
      const expected = refused('listener_unnamed', 'listeners.PaymentFailed', optionForm)
      assert.throws(() => create({ PaymentFailed: entry }), expected)
    })
  }

  test('refuses under a name what does not say its event, or has no function', () => {
    for (const entry of [run, [run], { listener: run }, null]) {
      assert.throws(
        () => create({ grant: entry }),
        refused('setting_invalid', 'listeners.grant', '`on`', optionForm),
      )
    }
    const entry = { on: 'PaymentFailed', listener: run }
    assert.throws(() => create({ grant: entry }), refused('setting_invalid', '"listener"'))
    assert.throws(() => create({ grant: { on: 'PaymentFailed' } }), { code: 'setting_invalid' })
    assert.throws(() => create([{ on: 'PaymentFailed', run }]), { code: 'setting_invalid' })
  })

  test('refuses a name that cannot be one, and an event that there is not', () => {
    const entry = { on: 'PaymentFailed', run }
    assert.throws(() => create({ '': entry }), refused('listener_unnamed', 'PaymentFailed'))
    assert.throws(() => create({ grant: { on: 'PaymentPaid', run } }), {
      code: 'event_type_unknown',
    })
  })
})
