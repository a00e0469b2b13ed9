import { moneyText, type Money } from '../kernel/money.ts'
import { reasonFor } from './reasons.ts'
import type { Review, StatedMoney } from './review.ts'

/** What a review found. */
export function inWords(review: Pick<Review, 'reason' | 'detail' | 'stated' | 'expected'>): string {
  const { reason, detail, stated, expected } = review
  const words = reasonFor(reason)?.review ?? reason
  const said = words.replaceAll(/\{stated\}|\{expected\}/g, (place) =>
    place === '{stated}' ? statedText(stated) : expectedText(expected),
  )
  return detail === null ? said : `${said} (${detail})`
}

function expectedText(expected: Money | null): string {
  return expected === null ? 'other money' : moneyText(expected)
}

export function statedText({ reference, amount, currency }: StatedMoney): string {
  const money =
    amount === null || currency === null
      ? 'money of an unknown amount'
      : moneyText({ amount, currency })
  return reference === null ? money : `${money} (${reference})`
}
