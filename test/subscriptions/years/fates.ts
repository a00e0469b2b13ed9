import type { Dice } from './dice.ts'

/** Fates of a charge, and how many of a hundred have them. */
const fates = [
  ['paid', 70],
  ['paid, unanswered', 7],
  ['never arrives', 4],
  ['arrives after days', 2],
  ['no_money', 6],
  ['stolen', 2],
  ['confirm_it', 1],
  ['declined, then paid', 2],
  ['decided later', 4],
  ['needs its payer', 1],
  ['refused', 1],
] as const
export type Fate = (typeof fates)[number][0]

export function fateOf(dice: Dice): Fate {
  let roll = dice.below(100)
  for (const [fate, share] of fates) {
    roll -= share
    if (roll < 0) return fate
  }
  return 'paid'
}

/** What a text stands for among dice. */
export function hash(text: string): number {
  let mixed = 0x811c9dc5
  for (const byte of Buffer.from(text)) mixed = Math.imul(mixed ^ byte, 0x01000193)
  return mixed >>> 0
}
