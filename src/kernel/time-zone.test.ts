import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone } from './time-zone.ts'

test('a time zone has a name of the IANA database', () => {
  const names = ['UTC', 'Europe/Kyiv', 'Europe/Kiev', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5']
  for (const name of [...names, ...Intl.supportedValuesOf('timeZone')]) {
    assert.equal(isTimeZone(name), true, name)
  }
})

test('an offset is no time zone, nor is anything that is not one name', () => {
  const others = [
    '+02:00',
    '-0300',
    '+02',
    '2',
    '',
    ' UTC',
    'UTC ',
    'UTC\n',
    'Europe/Nowhere',
    'Kyiv',
  ]
  for (const name of [...others, `A${'/'.repeat(1000)}`, 2, null, undefined, ['UTC']]) {
    assert.equal(isTimeZone(name), false, String(name))
  }
})
