import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { embedded } from '../support/databases.ts'
import { callbackAbout, type Changes } from './callbacks.ts'
import {
  ignoredAs,
  openService,
  refused,
  settles,
  type Result,
  type Service,
} from './callback-service.ts'

// Money in any other words than a gateway's own settles nothing: rightly signed, answered 200,
// stored for a person to look at. Stripe: stripe-content.test.ts.

let service: Service
before(async () => {
  service = await openService(embedded)
})
after(() => service[Symbol.asyncDispose]())

const mismatch = ignoredAs('amount_mismatch', true)

/** A payment of 150.75 UAH, and a paid callback about it with these fields written so. */
async function pays(name: string, changes: Changes): Promise<Result> {
  const payment = await service.pay(name)
  return service.send(payment, callbackAbout(payment, { changes }))
}

/** How a gateway writes money, and the JSON values that its signature already forbids. */
interface Wording {
  readonly amount: string
  readonly currency: string
  readonly major: boolean
  readonly quoted: boolean
  readonly refuses: (lexeme: string | undefined) => boolean
}

const never = () => false
const scalarOrEmpty = /^(?:null|"[^"]*"|-?\d[\d.eE+-]*)$/
const wordings: Readonly<Record<string, Wording>> = {
  paddle: {
    amount: 'total',
    currency: 'currency_code',
    major: false,
    quoted: true,
    refuses: never,
  },
  monobank: { amount: 'amount', currency: 'ccy', major: false, quoted: false, refuses: never },
  liqpay: { amount: 'amount', currency: 'currency', major: true, quoted: false, refuses: never },
  wayforpay: {
    amount: 'amount',
    currency: 'currency',
    major: true,
    quoted: false,
    // Empty items are signed like any other, in each spelling of them.
    refuses: (lexeme) => lexeme !== undefined && !scalarOrEmpty.test(lexeme),
  },
  // Its signature has no names: a value of another form could be that of another name.
  hutko: {
    amount: 'amount',
    currency: 'currency',
    major: false,
    quoted: true,
    refuses: (lexeme) => lexeme === undefined || !/^"?\d+"?$/.test(lexeme),
  },
}

const nothing = ['null', 'true', '[]', '{}', '""', undefined]
const minor = ['-15075', '0', '15075e0', '1.5075e4', '15075.0', '15075.00000000000000001', '1e400']
const minorTexts = [
  ' 15075',
  '15075 ',
  '+15075',
  '015075',
  '15075.0',
  '15075e0',
  '0x3ae3',
  '15,075',
  '15_075',
  '١٥٠٧٥',
  '１５０７５',
  '15075\\u0000',
]
const major = [
  '-150.75',
  '0',
  '15075',
  '15075e-2',
  '1.5075e2',
  '150.751',
  '150.75000000000000000001',
  '150.7499999999999999',
  '1e400',
]
const majorTexts = [
  ' 150.75',
  '150.75 ',
  '+150.75',
  '0150.75',
  '150,75',
  '1_50.75',
  '150.75e0',
  '0x96.c',
  '١٥٠.٧٥',
  '.15075e3',
  '150.75\\u0000',
]
const enormous = ['1'.repeat(30), `"${'1'.repeat(30)}"`]

const asJson = (text: string) => `"${text}"`

describe('bad inputs, J: amounts', () => {
  for (const [name, wording] of Object.entries(wordings)) {
    const own = wording.major
      ? [...major, ...majorTexts.map(asJson)]
      : [...minor, ...minorTexts.map(asJson)]
    for (const lexeme of [...nothing, ...own, ...enormous]) {
      const expected = wording.refuses(lexeme) ? refused : mismatch
      test(`${name}: the amount ${lexeme} settles nothing -> ${expected.status}`, async () => {
        assert.deepEqual(await pays(name, { [wording.amount]: lexeme }), expected)
      })
    }
  }

  test('an amount of the other JSON type than a gateway writes is none', async () => {
    assert.deepEqual(await pays('paddle', { total: '15075' }), mismatch)
    assert.deepEqual(await pays('monobank', { amount: '"15075"' }), mismatch)
  })
})

const currencies = [
  '"uah"',
  '"Uah"',
  '"980"',
  '980',
  '"UAH "',
  '" UAH"',
  '"ＵＡＨ"',
  '"UAH\\u200b"',
  '"UA\\u0406"',
  '"UAH\\n"',
  '"UAX"',
  '["UAH"]',
]
const numbers = ['"UAH"', '"980"', '980.0', '9.8e2', '98', '-980', '1980', '840', '[980]']

describe('bad inputs, J: currencies', () => {
  for (const [name, { currency, refuses }] of Object.entries(wordings)) {
    for (const lexeme of [...nothing, ...(name === 'monobank' ? numbers : currencies)]) {
      const expected = name === 'hutko' || refuses(lexeme) ? refused : mismatch
      test(`${name}: the currency ${lexeme} settles nothing -> ${expected.status}`, async () => {
        assert.deepEqual(await pays(name, { [currency]: lexeme }), expected)
      })
    }
  }
})

describe('bad inputs, J: exponents and floats', () => {
  for (const name of Object.keys(wordings)) {
    for (const [amount, currency] of [
      [5_000, 'JPY'],
      [12_340, 'KWD'],
      [435, 'UAH'],
      [1_015, 'UAH'],
      [29, 'UAH'],
      [999_999_999_999_999, 'UAH'],
    ] as const) {
      test(`${name}: ${amount} minor units of ${currency} settle, and 1 less does not`, async () => {
        const payment = await service.pay(name, { amount, currency })
        const less = callbackAbout({ ...payment, amount: payment.amount - 1n })
        assert.deepEqual(await service.send(payment, less), mismatch)
        assert.deepEqual(await service.send(payment, callbackAbout(payment)), settles)
      })
    }
  }

  for (const name of ['liqpay', 'wayforpay']) {
    for (const [written, amount, currency] of [
      ['50.00', 5_000, 'JPY'],
      ['123.40', 12_340, 'KWD'],
      ['4.35', 434, 'UAH'],
      ['4.35', 436, 'UAH'],
    ] as const) {
      test(`${name}: ${written} ${currency} are not ${amount} minor units`, async () => {
        const payment = await service.pay(name, { amount, currency })
        const callback = callbackAbout(payment, { changes: { amount: written } })
        assert.deepEqual(await service.send(payment, callback), mismatch)
      })
    }
  }
})

/** Sums beside the one that was asked for: what was debited, is left, was kept, or was tipped. */
const beside: Readonly<Record<string, Changes>> = {
  paddle: { grand_total: '"1"', balance: '"9"', subtotal: '"1"', fee: '"77"', earnings: '"1"' },
  liqpay: {
    amount_debit: '1.0',
    amount_credit: '1.0',
    agent_commission: '149.75',
    sender_commission: '9.5',
  },
  wayforpay: { fee: '149.75' },
  hutko: { settlement_amount: '"1"', fee: '"77"' },
  monobank: { finalAmount: '1' },
}
const rightBeside: Readonly<Record<string, Changes>> = {
  paddle: { total: '"1"', grand_total: '"15075"', subtotal: '"15075"' },
  liqpay: { amount: '1.0', amount_debit: '150.75', amount_credit: '150.75' },
  wayforpay: { amount: '1', fee: '150.75' },
  hutko: { amount: '"1"', actual_amount: '"15075"', settlement_amount: '"15075"' },
  monobank: { amount: '1', finalAmount: '15075' },
}

describe('bad inputs, J: sums beside the one that was asked for', () => {
  for (const name of Object.keys(wordings)) {
    test(`${name}: fees, tips and what is left change nothing`, async () => {
      assert.deepEqual(await pays(name, beside[name] ?? {}), settles)
    })

    test(`${name}: no other sum makes up for a wrong one`, async () => {
      assert.deepEqual(await pays(name, rightBeside[name] ?? {}), mismatch)
    })
  }
})
