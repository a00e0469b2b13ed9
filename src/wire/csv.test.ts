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

/** As a lenient program reads it: quotes count at the beginning of a cell alone, or not at all. */
function cellsOf(line: string, separator: string, isQuoted: boolean): readonly string[] {
  const cells: string[] = []
  let cell = ''
  let within = false
  for (const sign of line) {
    const isQuote = isQuoted && sign === '"'
    if (isQuote && (within || cell.trim() === '')) within = !within
    else if (!within && (sign === separator || sign === '\r' || sign === '\n')) {
      cells.push(cell)
      cell = ''
    } else cell += sign
  }
  return [...cells, cell]
}

test('whatever parts cells for a reader, none begins with a formula, behind quotes and blanks', () => {
  const between = ['', ' ', '"', '""', '" "', ';', ';;', '\t', '\n', '\r\n', '";"', ' \u00a0"', "'"]
  const hostile = between.flatMap((one) =>
    between.flatMap((other) => ['=', '@', '\uFF0B'].map((sign) => `${one}${other}${sign}A1("b")`)),
  )
  for (const text of [...hostile, ...hostile.map((one) => `x;${one}`)]) {
    for (const fields of [[text], ['a', text], [text, 'b'], ['a"', text, 'b']]) {
      const line = csvRow(fields)
      const read = [
        ...[',', ';', '\t'].flatMap((separator) => cellsOf(line, separator, true)),
        ...[';', '\t'].flatMap((separator) => cellsOf(line, separator, false)),
      ]
      for (const cell of read) {
        assert.doesNotMatch(cell, /^[\s"]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/u, JSON.stringify(line))
      }
    }
  }
  assert.equal(csvRow(['a', 'x;"=HYPERLINK("b")']), `a,"x;'""=HYPERLINK(""b"")"\r\n`)
})

test('a long text of separators, quotes and blanks is written as fast as any other', () => {
  for (const one of ['\n', ';', '"', ' ', '\u00a0"', ';"']) {
    const begun = performance.now()
    csvRow([one.repeat(200_000)])
    // Quadratic, it takes minutes.
    assert.ok(performance.now() - begun < 5_000, JSON.stringify(one))
  }
})
