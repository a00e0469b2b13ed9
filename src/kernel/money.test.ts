import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findCurrency, findCurrencyByNumber } from './currency.ts'
import {
  amountText,
  formatMajorUnits,
  moneyText,
  isCurrency,
  largestAmount,
  parseMajorUnits,
  parseMinorUnits,
} from './money.ts'

test('currencies have their code, number and decimals of ISO 4217', () => {
  const table = [
    ['UAH', '980', 2],
    ['USD', '840', 2],
    ['EUR', '978', 2],
    ['JPY', '392', 0],
    ['KRW', '410', 0],
    ['CLP', '152', 0],
    ['KWD', '414', 3],
    ['BHD', '048', 3],
    ['TND', '788', 3],
    ['ALL', '008', 2],
  ] as const
  for (const [code, number, digits] of table) {
    for (const currency of [findCurrency(code), findCurrencyByNumber(number)]) {
      assert.equal(currency?.code, code)
      assert.equal(currency.number, number)
      assert.equal(currency.digits, digits)
    }
  }
})

test('only the exact code or number of a currency is one', () => {
  for (const code of [
    'uah',
    'UAH ',
    'ＵＡＨ',
    'UAH\u200b',
    '980',
    'ZZZ',
    '',
    'constructor',
    null,
    980,
  ]) {
    assert.equal(isCurrency(code), false, String(code))
    assert.equal(findCurrency(code), undefined)
  }
  for (const number of ['8', '08', 'UAH', '', '000', '0980']) {
    assert.equal(findCurrencyByNumber(number), undefined, number)
  }
  assert.equal(isCurrency('UAH'), true)
})

test('major units become minor ones of the currency, from their text', () => {
  const table = [
    ['150.75', 'UAH', 15_075n],
    ['150', 'UAH', 15_000n],
    ['0', 'UAH', 0n],
    ['0.01', 'UAH', 1n],
    ['4.35', 'UAH', 435n],
    ['1136.1', 'UAH', 113_610n],
    ['180.0', 'UAH', 18_000n],
    ['180.000', 'UAH', 18_000n],
    ['180.0', 'JPY', 180n],
    ['5000', 'JPY', 5_000n],
    ['12.340', 'KWD', 12_340n],
    ['12.34', 'KWD', 12_340n],
    ['9999999999999', 'UAH', 999_999_999_999_900n],
    ['9007199254740.991', 'KWD', largestAmount],
    ['9007199254740.992', 'KWD', undefined],
    ['9999999999999', 'KWD', undefined],
    ['10000000000000', 'UAH', undefined],
    ['150.755', 'UAH', undefined],
    ['180.5', 'JPY', undefined],
    ['1.0001', 'KWD', undefined],
    ['15', 'XYZ', undefined],
    ['1.5', 'XYZ', undefined],
    ['1.5', 'uah', undefined],
  ] as const
  for (const [text, currency, amount] of table) {
    assert.equal(parseMajorUnits(text, currency), amount, `${text} ${currency}`)
  }
})

test('every other spelling of an amount is none', () => {
  const texts = ['-100', '-0', '+1', '1e2', ' 100', '100 ', '0x64', '100,00', '١٠٠', '1_00', '01']
  for (const text of [
    ...texts,
    '',
    '.5',
    '5.',
    '1.2.3',
    '1'.repeat(30),
    'NaN',
    'Infinity',
    '1\n',
  ]) {
    assert.equal(parseMajorUnits(text, 'UAH'), undefined, JSON.stringify(text))
    assert.equal(parseMinorUnits(text), undefined, JSON.stringify(text))
  }
  assert.equal(parseMajorUnits(undefined, 'UAH'), undefined)
  assert.equal(parseMajorUnits('1', undefined), undefined)
  assert.equal(parseMinorUnits(undefined), undefined)
})

test('for every amount, minor and major units are the same money', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), (amount) => {
      const text = `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`
      assert.equal(parseMajorUnits(text, 'UAH'), amount)
      assert.equal(parseMinorUnits(String(amount)), amount)
    }),
  )
})

test('the largest amount is exact in every client, and no more is taken', () => {
  assert.equal(parseMinorUnits(String(largestAmount)), largestAmount)
  assert.equal(parseMinorUnits(String(largestAmount + 1n)), undefined)
})

for (const [amount, currency, text] of [
  [15_075n, 'UAH', '150.75'],
  [15_070n, 'UAH', '150.7'],
  [15_000n, 'UAH', '150'],
  [5n, 'UAH', '0.05'],
  [0n, 'UAH', '0'],
  [180n, 'JPY', '180'],
  [12_340n, 'KWD', '12.34'],
  [largestAmount, 'USD', '90071992547409.91'],
] as const) {
  test(`${amount} of ${currency} in minor units is written ${text}`, () => {
    assert.equal(formatMajorUnits({ amount, currency }), text)
  })
}

test('money of a currency that does not exist is not written', () => {
  assert.equal(formatMajorUnits({ amount: 1n, currency: 'XYZ' }), undefined)
})

test('what is written is read back, and is what JSON makes of the number', () => {
  // No more than 13 whole digits are read.
  const whole = fc.bigInt({ min: 0n, max: 10n ** 13n - 1n })
  fc.assert(
    fc.property(whole, fc.constantFrom('UAH', 'JPY', 'KWD'), (amount, currency) => {
      const text = formatMajorUnits({ amount, currency })
      assert.equal(parseMajorUnits(text, currency), amount)
      assert.equal(JSON.stringify(Number(text)), text)
    }),
  )
})

test('people read it with all decimals of its currency', () => {
  const rows = [
    [1_000n, 'UAH', '10.00 UAH'],
    [5n, 'UAH', '0.05 UAH'],
    [1_999n, 'JPY', '1999 JPY'],
    [1_005n, 'KWD', '1.005 KWD'],
    [9_007_199_254_740_991n, 'USD', '90071992547409.91 USD'],
    [0n, 'UAH', '0.00 UAH'],
    [-5n, 'UAH', '-0.05 UAH'],
    [500n, 'XYZ', '500 XYZ'],
  ] as const
  for (const [amount, currency, text] of rows) {
    assert.equal(moneyText({ amount, currency }), text)
    assert.equal(`${amountText({ amount, currency })} ${currency}`, text)
  }
})
