import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvRow } from './csv.ts'

test('fields are parted by commas, and quoted where they must be', () => {
  assert.equal(csvRow(['a', '', 'b c']), 'a,,b c\r\n')
  assert.equal(csvRow(['a,b', 'say "no"', 'two\nlines']), '"a,b","say ""no""","two\nlines"\r\n')
})

test('nothing begins a formula, whatever the spreadsheet parts cells by', () => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '  =1', '\uFF1D1']) {
    assert.equal(csvRow([text]), `'${text}\r\n`, text)
  }
  assert.equal(csvRow(["x;=cmd|' /C calc'!A0;-1"]), `"x;'=cmd|' /C calc'!A0;'-1"\r\n`)
  assert.equal(csvRow(['x\t=1', 'x\n @A1']), `"x\t'=1","x\n' @A1"\r\n`)
  assert.equal(csvRow(['a=1; b-c', 'mail@example.com']), '"a=1; b-c",mail@example.com\r\n')
})
