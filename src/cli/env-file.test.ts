import assert from 'node:assert/strict'
import test from 'node:test'
import { parseEnv } from 'node:util'
import { readEnvFile } from './env-file.ts'

const read = (text: string) => readEnvFile(Buffer.from(text))
const valuesOf = (text: string) => {
  const { values, fault } = read(text)
  assert.equal(fault, undefined)
  return Object.fromEntries(values)
}

test('a file is read as Node reads it', () => {
  const text = [
    '# a comment',
    'A=1',
    '',
    '  export B = two words  ',
    'C=',
    'D="a # b" # a comment',
    "E='x=y' # a comment",
    'F=`it\'s "so"`',
    'G="one\\ntwo"',
    "H='one\\ntwo'",
    'I="-----BEGIN KEY-----',
    'abc#=',
    '-----END KEY-----"',
    'J=http://x.example/?a=b&c="d" # a comment',
    'K=""',
    'A=2',
    'L=last',
  ]
  for (const ending of ['\n', '\r\n']) {
    const file = text.join(ending)
    assert.deepEqual(valuesOf(file), { ...parseEnv(file) })
  }
})

test('a byte order mark is skipped, and a blank value does not take the next line', () => {
  assert.deepEqual(valuesOf('\ufeffNODE_ENV=production\nA=1'), { NODE_ENV: 'production', A: '1' })
  assert.deepEqual(valuesOf('A= \nB=1\nC=\t# a comment\nD=2'), { A: '', B: '1', C: '', D: '2' })
})

test('what would be skipped, cut or joined is a fault of its line, and shows no value', () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['hush', /it cannot be read; allowed are NAME=value, /],
    ['=hush', /it cannot be read/],
    ['export', /it cannot be read/],
    ['A B=hush', /it cannot be read/],
    ['\ufeffA=hush', /it cannot be read/],
    ['A: hush', /it cannot be read/],
    ['A=hush#hush', /the value of A would be cut at its #: put the value into quotes/],
    ['A=#hush', /would be cut at its #/],
    ['A=hush hush# hush', /would be cut at its #/],
    ['A="hush', /the value of A must begin and end with the same quote/],
    ['A="hush"hush', /must begin and end with the same quote, with nothing after it/],
    [String.raw`A="hush\"hush"`, /must begin and end with the same quote/],
    ["A='hush\nB='hush'", /must begin and end with the same quote/],
    ['A=hush\0', /it contains a control character/],
    ['A=1\rB=hush', /it contains a control character/],
  ]
  for (const [line, reason] of rows) {
    const { values, fault } = read(`FIRST=1\n\n${line}\nLAST=1\n`)
    assert.deepEqual([...values], fault?.reason.includes('control') ? [] : [['FIRST', '1']], line)
    assert.equal(fault?.line, 3, line)
    assert.match(fault.reason, reason)
    assert.doesNotMatch(fault.reason, /hush/)
  }
})

test('bytes that are not UTF-8 are refused', () => {
  for (const bytes of [Buffer.from('\ufeffA=1', 'utf16le'), Buffer.from('A=\xe9', 'latin1')]) {
    assert.throws(() => readEnvFile(bytes), TypeError)
  }
})
