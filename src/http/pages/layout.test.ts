import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { brandStyle, contrast } from './layout.ts'

const hex = fc
  .integer({ min: 0, max: 0xff_ff_ff })
  .map((number) => `#${number.toString(16).padStart(6, '0')}`)

const valueIn = (style: string, name: string) =>
  new RegExp(`--${name}: ([^;} ]+)`).exec(style)?.[1] ?? ''

test('contrast is what WCAG says', () => {
  assert.equal(contrast('#000', '#ffffff'), 21)
  assert.equal(contrast('#fff', '#fff'), 1)
  // The greys between which the least contrast for text lies.
  assert.ok(contrast('#767676', '#fff') >= 4.5)
  assert.ok(contrast('#777', '#fff') < 4.5)
  assert.equal(contrast('#f00', '#fff').toFixed(2), '4.00')
  assert.equal(contrast('#fff', '#f00').toFixed(2), '4.00')
})

test('whatever the colour, the text on it can be read; white is taken where it can be', () => {
  fc.assert(
    fc.property(hex, (color) => {
      const text = valueIn(brandStyle(color), 'on-go')
      assert.ok(contrast(color, text) >= 4.5, `${text} on ${color}`)
      assert.equal(text === '#fff', contrast(color, '#fff') >= 4.5)
    }),
    { numRuns: 2_000 },
  )
})

test('a button that would be lost on the page keeps an edge, in light and in dark', () => {
  const edges = (color: string) =>
    [...brandStyle(color).matchAll(/--go-edge: ([^;} ]+)/g)].map(([, edge]) => edge)
  assert.deepEqual(edges('#fff'), ['var(--edge)', '#fff'])
  assert.deepEqual(edges('#1b212a'), ['#1b212a', 'var(--edge)'])
  assert.deepEqual(edges('#1a73e8'), ['#1a73e8', '#1a73e8'])
})

test('a colour without its # is the same colour', () => {
  assert.equal(brandStyle('0B6B3A'), brandStyle('#0b6b3a'))
})
