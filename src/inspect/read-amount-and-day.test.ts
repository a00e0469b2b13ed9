import assert from 'node:assert/strict'
import { test } from 'node:test'
import { daysAround, readAmountAndDay } from './read-amount-and-day.ts'

const now = new Date('2026-11-26T14:00:00Z')
const read = (text: string, at = now) => {
  const found = readAmountAndDay(text, at)
  return found && [found.amounts.join(' or '), found.currency ?? 'any', found.day].join(' ')
}

test('an amount and a day are read as people write them', () => {
  assert.equal(read('1999 22.11'), '1999 any 2026-11-22')
  assert.equal(read('19.99 EUR yesterday'), '19.99 EUR 2026-11-25')
  assert.equal(read('1,999.00 UAH 2026-11-22'), '1999 UAH 2026-11-22')
  assert.equal(read('  5   today '), '5 any 2026-11-26')
  assert.equal(read('0.50 today'), '0.5 any 2026-11-26')
  assert.equal(read('100.00 today'), '100 any 2026-11-26')
  assert.equal(read('1050 today'), '1050 any 2026-11-26')
})

test('the day may stand first; what could be both is the amount', () => {
  assert.equal(read('2026-11-22 1999 uah'), '1999 UAH 2026-11-22')
  assert.equal(read('22.11 1999'), '1999 any 2026-11-22')
  assert.equal(read('12.11 22.11'), '12.11 any 2026-11-22')
})

test('thousands may be grouped by a point, a comma, a blank or an apostrophe', () => {
  for (const amount of [
    '1,999.50',
    '1.999,50',
    '1 999,50',
    '1\u{a0}999.5',
    "1'999.50",
    '1999,50',
  ]) {
    assert.equal(read(`${amount} today`), '1999.5 any 2026-11-26', amount)
  }
  assert.equal(read('1.234.567 today'), '1234567 any 2026-11-26')
  assert.equal(read('1,999 today'), '1999 or 1.999 any 2026-11-26')
  assert.equal(read('1,999 UAH today'), '1999 UAH 2026-11-26', 'its hryvnias have two decimals')
  assert.equal(read('1,999 KWD today'), '1999 or 1.999 KWD 2026-11-26')
  for (const amount of ['1,99.50', '1,999,50', '1.2.3', '01', '1,999.5,0', '1999.5000']) {
    assert.equal(read(`${amount} today`), undefined, amount)
  }
})

test('a currency stands on either side of its amount, as a code or a sign', () => {
  for (const text of ['19.99 eur', 'EUR 19.99', '19.99EUR', '€19.99', '19,99 €']) {
    assert.equal(read(`${text} today`), '19.99 EUR 2026-11-26', text)
  }
  assert.equal(read('$5 today'), '5 any 2026-11-26', 'there are many dollars')
  assert.equal(read('₴5 today'), '5 UAH 2026-11-26')
  for (const text of [
    '5 ABC today',
    '5 XXX today',
    'EUR 5 EUR today',
    '1.5 JPY today',
    'EUR today',
  ]) {
    assert.equal(read(text), undefined, text)
  }
})

test('a day is written in many ways', () => {
  for (const day of [
    '22.11.2026',
    '22.11.',
    '22.11',
    '22 nov',
    '22 November 2026',
    'Nov 22',
    'nov 22, 2026',
  ]) {
    assert.equal(read(`5 ${day}`), '5 any 2026-11-22', day)
  }
  assert.equal(read('5 3.4.2025'), '5 any 2025-04-03')
  for (const day of [
    '31.02.2026',
    '0.1',
    '32.1',
    '1.13',
    '2026-13-01',
    '22 foo',
    'tomorrow',
    '22',
    '',
  ]) {
    assert.equal(read(`5 ${day}`), undefined, day)
  }
})

test('a day without a year is the latest that is not in the future', () => {
  assert.equal(read('5 26.11'), '5 any 2026-11-26')
  assert.equal(read('5 27.11'), '5 any 2025-11-27')
  assert.equal(read('5 31.12', new Date('2027-01-01T00:00:00Z')), '5 any 2026-12-31')
  assert.equal(read('5 29.02'), '5 any 2024-02-29')
  assert.equal(read('5 29.02', new Date('2103-06-01T00:00:00Z')), '5 any 2096-02-29')
})

test('what is no amount with a day is none, however long or odd', () => {
  for (const text of [
    '',
    '5',
    'today',
    'order:42',
    '0190163d-8694-739b-aea5-966c26f8ad90',
    '5 5 5',
    'the 5 of us paid 5 today, or so they said',
  ]) {
    assert.equal(read(text), undefined, text)
  }
  assert.equal(read('1 '.repeat(250)), undefined)
  assert.equal(read(`${'1'.repeat(400)} today`), undefined)
  assert.equal(read(`1${' 000'.repeat(100)} today`), undefined)
})

test('the days around one are the next ones, over the end of a month and a year', () => {
  assert.deepEqual(daysAround('2026-12-31'), ['2026-12-31', '2026-12-30', '2027-01-01'])
  assert.deepEqual(daysAround('2028-03-01'), ['2028-03-01', '2028-02-29', '2028-03-02'])
})
