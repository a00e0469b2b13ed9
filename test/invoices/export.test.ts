import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Invoice } from '../../src/invoices/invoice.ts'
import { isSeries, monthOf, numberText, seriesOf } from '../../src/invoices/number.ts'
import { invoiceLinesOf } from '../../src/wire/invoice-export.ts'

const at = new Date('2026-11-24T09:00:00Z')

const invoice: Invoice = {
  id: '0199a000-0000-7000-8000-000000000001',
  issuer: 'us',
  status: 'issued',
  number: 'INV-2026-0001',
  series: 'INV-2026',
  live: true,
  total: 12_50n,
  credited: 0n,
  currency: 'UAH',
  lines: [{ description: 'Tea, "green"', quantity: 1, amount: 1_250n }],
  seller: { name: 'Shop' },
  buyer: { name: '=HYPERLINK("https://evil.example")' },
  locale: null,
  timeZone: 'UTC',
  payable: { type: 'order', id: '42' },
  gateway: 'fake',
  merchantAccount: null,
  subscriptionId: null,
  periodId: null,
  paymentId: null,
  period: null,
  providerReference: null,
  url: null,
  issuedAt: at,
  dueAt: null,
  paidAt: null,
  voidedAt: null,
}

async function* of(...invoices: readonly Invoice[]) {
  yield* invoices
}

async function linesOf(one: Invoice, format: 'csv' | 'jsonl'): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of invoiceLinesOf(of(one), format)) lines.push(line)
  return lines
}

test('a row of the table quotes what it must, and computes nothing', async () => {
  const [header = '', row = ''] = await linesOf(invoice, 'csv')
  assert.ok(header.startsWith('\u{feff}number,issuer,status,mode,issued_at,'))
  assert.ok(row.includes(`"'=HYPERLINK(""https://evil.example"")"`))
  assert.ok(row.includes('"Tea, ""green"""'))
  assert.ok(row.includes(',UAH,12.50,0.00,'))
  assert.ok(row.startsWith('INV-2026-0001,us,issued,live,'))
  assert.ok(row.endsWith('\r\n'))
})

for (const [currency, total, credited, shown] of [
  ['UAH', 1_250n, 0n, '12.50,0.00'],
  ['UAH', 500n, 500n, '5.00,5.00'],
  ['UAH', 1_999n, 5n, '19.99,0.05'],
  ['JPY', 1_999n, 0n, '1999,0'],
  ['KWD', 5_000n, 1_050n, '5.000,1.050'],
  // Not of ISO 4217: how many decimals it has is not known, so these are minor units.
  ['XYZ', 500n, 0n, '500,0'],
] as const) {
  test(`money in the table has the decimals of its currency: ${shown} ${currency}`, async () => {
    const [header = '', row = ''] = await linesOf({ ...invoice, currency, total, credited }, 'csv')
    assert.ok(header.includes(',currency,total,credited,'))
    assert.ok(row.includes(`,${currency},${shown},`), row)
  })
}

for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '\uFF1D1']) {
  test(`${JSON.stringify(text)} in a name begins no formula`, async () => {
    const [, row = ''] = await linesOf({ ...invoice, buyer: { name: text } }, 'csv')
    // Behind a tab, another cell may begin.
    assert.ok(row.includes(`'${text.replace('\t', "\t'")}`), row)
  })
}

test('a line of JSON is the document as the API shows it', async () => {
  const [line = '', ...more] = await linesOf(invoice, 'jsonl')
  assert.deepEqual(more, [])
  const read = JSON.parse(line) as Record<string, unknown>
  assert.equal(read['number'], 'INV-2026-0001')
  assert.equal(read['total'], 1_250)
  assert.equal(read['issued_at'], '2026-11-24T09:00:00.000Z')
})

test('a series counts in the year of its zone', () => {
  const eve = new Date('2026-12-31T22:30:00Z')
  const live = { at: eve, timeZone: 'UTC', live: true }
  const inKyiv = { ...live, timeZone: 'Europe/Kyiv' }
  assert.equal(seriesOf('INV-{year}', live), 'INV-2026')
  assert.equal(seriesOf('INV-{year}', inKyiv), 'INV-2027')
  assert.equal(seriesOf('{year}/{month}', inKyiv), '2027/01')
  assert.equal(seriesOf('INV-{year}', { ...inKyiv, live: false }), 'TEST-INV-2027')
  assert.equal(seriesOf('INV-{year}', { ...inKyiv, live: null }), 'INV-2027')
  assert.equal(numberText('INV-2026', 42n), 'INV-2026-0042')
  assert.equal(numberText('INV-2026', 12_345n), 'INV-2026-12345')
})

test('a month begins and ends in its zone', () => {
  assert.deepEqual(monthOf('2026-11', 'Europe/Kyiv'), {
    from: new Date('2026-10-31T22:00:00Z'),
    until: new Date('2026-11-30T22:00:00Z'),
  })
  assert.deepEqual(monthOf('2026-12', 'UTC')?.until, new Date('2027-01-01T00:00:00Z'))
  for (const text of ['2026-13', '2026-1', '', '1969-01', '2026-11-01']) {
    assert.equal(monthOf(text, 'UTC'), undefined, text)
  }
})

test('a series has letters, digits, and the two placeholders', () => {
  for (const text of ['INV-{year}', 'РФ-{year}/{month}', 'A']) assert.ok(isSeries(text), text)
  for (const text of ['', 'A B', 'INV-{day}', '{', '<b>', 'A'.repeat(65), 'TEST-{year}']) {
    assert.equal(isSeries(text), false, text)
  }
})
