import { describe } from 'node:test'
import type { Payment } from '../../src/payments/payment.ts'
import { callbackAbout, type Changes } from './callbacks.ts'
import {
  declareCases,
  ignoredAs,
  refused,
  settles,
  type Case,
  type Result,
  type Service,
} from './callback-service.ts'

// Money in any other words than a gateway's own settles nothing: rightly signed, answered 200,
// stored for a person to look at. Stripe: stripe-content.test.ts.

const mismatch = ignoredAs('amount_mismatch', true)

/** A paid callback with these fields written so. */
const pays = (changes: Changes, expected: Result): Case => ({
  expected,
  make: (payment) => callbackAbout(payment, { changes }),
})

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

function amountCases(name: string, wording: Wording): Record<string, Case> {
  const own = wording.major
    ? [...major, ...majorTexts.map(asJson)]
    : [...minor, ...minorTexts.map(asJson)]
  // Of the other JSON type than the gateway writes.
  const other = name === 'paddle' ? ['15075'] : name === 'monobank' ? ['"15075"'] : []
  return Object.fromEntries(
    [...nothing, ...own, ...enormous, ...other].map((lexeme) => [
      String(lexeme),
      pays({ [wording.amount]: lexeme }, wording.refuses(lexeme) ? refused : mismatch),
    ]),
  )
}

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

function currencyCases(name: string, { currency, refuses }: Wording): Record<string, Case> {
  const own = name === 'monobank' ? numbers : currencies
  return Object.fromEntries(
    [...nothing, ...own].map((lexeme) => [
      String(lexeme),
      pays({ [currency]: lexeme }, name === 'hutko' || refuses(lexeme) ? refused : mismatch),
    ]),
  )
}

const exact = [
  [5_000, 'JPY'],
  [12_340, 'KWD'],
  [435, 'UAH'],
  [1_015, 'UAH'],
  [29, 'UAH'],
  [999_999_999_999_999, 'UAH'],
] as const

/** Minor units settle exactly; one less does not. */
const exactCases: Readonly<Record<string, Case>> = Object.fromEntries(
  exact.flatMap(([amount, currency]) => {
    const fields = { amount, currency }
    const less = (payment: Payment) => callbackAbout({ ...payment, amount: payment.amount - 1n })
    return [
      [`${amount} ${currency}`, { fields, expected: settles, make: callbackAbout }],
      [`1 less than ${amount} ${currency}`, { fields, expected: mismatch, make: less }],
    ]
  }),
)

/** What a gateway that writes major units may not be read as. */
const otherExponents: Readonly<Record<string, Case>> = Object.fromEntries(
  (
    [
      ['50.00', 5_000, 'JPY'],
      ['123.40', 12_340, 'KWD'],
      ['4.35', 434, 'UAH'],
      ['4.35', 436, 'UAH'],
    ] as const
  ).map(([amount, minorUnits, currency]) => [
    `${amount} ${currency} for ${minorUnits} minor units`,
    { ...pays({ amount }, mismatch), fields: { amount: minorUnits, currency } },
  ]),
)

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

/** Declares the tests, on a service that others share. */
export function declareBadMoney(service: () => Service): void {
  for (const [name, wording] of Object.entries(wordings)) {
    describe(`bad inputs, J: money at ${name}`, () => {
      const declare = (title: string, cases: Readonly<Record<string, Case>>) =>
        declareCases(service, [name, title], cases)
      declare('amounts in other words', amountCases(name, wording))
      declare('currencies in other words', currencyCases(name, wording))
      declare('exponents and floats', exactCases)
      if (wording.major) declare('other exponents', otherExponents)
      declare('sums beside the one that was asked for', {
        'fees, tips and what is left': pays(beside[name] ?? {}, settles),
        'another sum that would be right': pays(rightBeside[name] ?? {}, mismatch),
      })
    })
  }
}
