import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printTable, wrapped } from '../../src/cli/output.ts'

/** What `printTable` writes to standard output. */
function tableOf(...table: Parameters<typeof printTable>): readonly string[] {
  const { write } = process.stdout
  let written = ''
  process.stdout.write = (text: string) => {
    written += text
    return true
  }
  try {
    printTable(...table)
  } finally {
    process.stdout.write = write
  }
  return written.trimEnd().split('\n')
}

const id = '01890000-0000-7000-8000-000000000000'

test('a table keeps to 80 columns; ids and amounts stay whole', () => {
  const largest = '9007199254740991 UAH'
  const lines = tableOf(
    ['id', 'status', 'amount', 'created', 'gateway'],
    [
      [id, 'canceled', largest, '11-21 09:30', 'a-gateway-with-a-long-name'],
      [id, 'paid', '1 UAH', '11-21 09:30', 'fake'],
    ],
  )
  assert.equal(lines.length, 3)
  for (const line of lines) assert.ok(line.length <= 80, line)
  assert.ok(lines[1]?.startsWith(`${id}  canceled  ${largest}  `))
})

test('a note stands whole below its row', () => {
  const reason = 'needs review: amount_mismatch, '.repeat(4).trim()
  const lines = tableOf(
    ['id', 'state'],
    [
      [id, 'ignored'],
      [id, 'processed'],
    ],
    [reason],
  )
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
  const lines = tableOf(
    ['name', 'queued', 'here', 'events'],
    [['x'.repeat(200), 'no', 'yes', 'PaymentSucceeded, PaymentFailed']],
  )
  for (const line of lines) assert.ok(line.length <= 80, line)
  assert.match(lines[1] ?? '', /^x+…  no {4}yes {3}Pay…$/)
})

test('a table that fits is left as it is', () => {
  assert.deepEqual(tableOf(['name', 'here'], [['grant', 'yes']]), ['name   here', 'grant  yes'])
})

test('control characters cannot move the cursor of a terminal', () => {
  assert.deepEqual(tableOf(['name', 'here'], [['a\u001B[2Jb\n', 'yes']])[1], 'a\\u{1b}[2Jb   yes')
})

test('text is wrapped at words, and inside of one only where it is longer than a line', () => {
  assert.deepEqual(wrapped('', 0), [''])
  const text = `${'word '.repeat(30)}${'x'.repeat(130)} end`
  const lines = wrapped(text, 20)
  assert.ok(lines.every((line) => line.length <= 60))
  assert.equal(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''))
})
