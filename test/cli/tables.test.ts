import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableLines, wrapped } from '../../src/cli/output.ts'

const id = '01890000-0000-7000-8000-000000000000'

test('a table keeps to the columns of a terminal; ids and amounts stay whole', () => {
  const largest = '9007199254740991 UAH'
  const lines = tableLines(
    {
      headings: ['id', 'status', 'amount', 'created', 'gateway'],
      rows: [
        [id, 'canceled', largest, '11-21 09:30', 'a-gateway-with-a-long-name'],
        [id, 'paid', '1 UAH', '11-21 09:30', 'fake'],
      ],
    },
    80,
  )
  assert.equal(lines.length, 3)
  for (const line of lines) assert.ok(line.length <= 80, line)
  assert.ok(lines[1]?.startsWith(`${id}  canceled  ${largest}  `))
})

const reason = 'needs review: amount_mismatch, '.repeat(4).trim()
const noted = {
  headings: ['id', 'state'],
  rows: [
    [id, 'ignored'],
    [id, 'processed'],
  ],
  notes: { headings: ['payment', 'outcome'], rows: [['', reason]] },
}

test('outside of a terminal nothing is cut, and each row is one line', () => {
  assert.deepEqual(tableLines(noted, undefined), [
    `id${' '.repeat(34)}  state      payment  outcome`,
    `${id}  ignored             ${reason}`,
    `${id}  processed`,
  ])
})

test('notes stand whole below their row', () => {
  const lines = tableLines(noted, 80)
  assert.equal(lines.length, 5)
  for (const line of lines) assert.ok(line.length <= 80, line)
  assert.equal(
    lines
      .slice(2, 4)
      .map((line) => line.trim())
      .join(' '),
    reason,
  )
  assert.ok(lines[4]?.startsWith(`${id}  processed`))
})

test('the first column gives way where nothing else can', () => {
  const lines = tableLines(
    {
      headings: ['name', 'queued', 'here', 'events'],
      rows: [['x'.repeat(200), 'no', 'yes', 'PaymentSucceeded, PaymentFailed']],
    },
    80,
  )
  for (const line of lines) assert.ok(line.length <= 80, line)
  assert.match(lines[1] ?? '', /^x+…  no {4}yes {3}Pay…$/)
})

test('a table that fits is left as it is', () => {
  const table = { headings: ['name', 'here'], rows: [['grant', 'yes']] }
  assert.deepEqual(tableLines(table, 80), ['name   here', 'grant  yes'])
})

test('control characters cannot move the cursor of a terminal', () => {
  const table = { headings: ['name', 'here'], rows: [['a\u001B[2Jb\n', 'yes']] }
  assert.deepEqual(tableLines(table, 80)[1], 'a\\u{1b}[2Jb   yes')
})

test('text is wrapped at words, and inside of one only where it is longer than a line', () => {
  assert.deepEqual(wrapped('', 0), [''])
  const text = `${'word '.repeat(30)}${'x'.repeat(130)} end`
  const lines = wrapped(text, 20)
  assert.ok(lines.every((line) => line.length <= 60))
  assert.equal(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''))
})
