import { test } from 'node:test'
import { playYears } from '../subscriptions/years/play.ts'

const lives = 200_000

test(`${lives.toLocaleString('en')} subscriptions live for years, whatever goes wrong, and all holds of each`, () => {
  for (let seed = 0; seed < lives; seed += 1) playYears(seed)
})
