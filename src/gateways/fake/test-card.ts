import type { PaymentMethodOutcome } from '../../payments/outcome.ts'
import { scripts, type Script } from './ending.ts'

/**
 * A test card: with `good` the amount decides how a charge ends, with any other the card does. No
 * card ends a charge without an answer: a poll could not know by which card it was.
 */
export type TestCard = 'good' | Exclude<Script, 'refused' | 'lost' | 'cut' | 'slow'>

const unanswered: ReadonlySet<string> = new Set(['refused', 'lost', 'cut', 'slow'])

/** Whether a text names a test card. */
export function isTestCard(text: string): text is TestCard {
  return text === 'good' || (scripts.has(text) && !unanswered.has(text))
}

/** The card, as the payment with this id has saved it. */
export function savedWith(paymentId: string, card: TestCard): PaymentMethodOutcome {
  return {
    type: 'payment_method',
    status: 'attached',
    reference: `fake_card_${card}_${paymentId}`,
    payment: { id: paymentId },
    details: { kind: 'card', brand: card, lastFour: '4242' },
  }
}

const referenceGrammar = /^fake_card_([a-z]+)_[0-9a-f-]{36}$/

/** The card of that reference; undefined if none was ever saved with it. */
export function testCardOf(reference: string): TestCard | undefined {
  const [, card = ''] = referenceGrammar.exec(reference) ?? []
  return isTestCard(card) ? card : undefined
}
