import assert from 'node:assert/strict'
import { test } from 'node:test'
import { data } from 'currency-codes'
import { currencyCodes } from './currency-code.ts'
import { addedSince, findCurrency, findCurrencyByNumber, isMoney } from './currency.ts'

/** Nobody pays in these any more: a list that goes back in time has them all the same. */
const withdrawn = new Set(['HRK', 'SLL', 'ZWL'])

test('every currency that Node knows is known here, by a package or by an addition to it', () => {
  const missing = Intl.supportedValuesOf('currency').filter(
    (code) => findCurrency(code) === undefined,
  )
  assert.deepEqual(
    missing.filter((code) => !withdrawn.has(code)),
    [],
  )
  const inPackage = new Set(data.map(({ code }) => code))
  const spare = addedSince.filter(({ code }) => inPackage.has(code))
  assert.deepEqual(spare, [], 'the package has these by now')
  // The guilder of Curaçao took over the number of the one before it.
  assert.equal(findCurrencyByNumber('532')?.code, 'XCG')
  assert.equal(findCurrencyByNumber('980')?.digits, 2)
})

test('metals, units of account, the code for tests and the one for no currency are no money', () => {
  const codes = [...data, ...addedSince].map(({ code }) => code)
  const others = codes.filter((code) => !isMoney(code))
  assert.deepEqual(others, 'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' '))
  for (const code of currencyCodes) assert.ok(findCurrency(code), code)
  for (const code of ['uah', 'ZZZ', '', 980, undefined]) assert.equal(isMoney(code), false)
})
