import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlots } from './slots.ts'

const taken = (take: () => boolean): number => {
  let count = 0
  while (take()) count += 1
  return count
}

test('endpoints that fail get a quarter of the slots', () => {
  const slots = createSlots(256, () => {})
  const counts = [true, false].map((isFailing) => taken(() => slots.take(isFailing)))
  assert.deepEqual(counts, [64, 192])
  slots.leave(true)
  assert.deepEqual([slots.take(false), slots.take(true)], [true, false])
})

test('one slot is left to those that fail, however few there are', () => {
  const slots = createSlots(2, () => {})
  assert.deepEqual([slots.take(true), slots.take(true), slots.take(false)], [true, false, true])
})

test('whoever found none hears of it once one is free', () => {
  let told = 0
  const slots = createSlots(1, () => (told += 1))
  slots.take(false)
  slots.leave(false)
  assert.equal(told, 0)
  slots.take(false)
  slots.take(false)
  slots.leave(false)
  assert.equal(told, 1)
})
