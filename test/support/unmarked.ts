import type { Outcome } from '../../src/payments/outcome.ts'

/** Outcomes without what they say of reviews: test/scenarios/review-marks.test.ts looks at that. */
export function unmarked(outcomes: readonly Outcome[]): readonly Outcome[] {
  return outcomes.map((outcome) => {
    if (outcome.type === 'payment') {
      const { ifCanceled: _, ...told } = outcome
      return told
    }
    if (outcome.type !== 'ignored') return outcome
    const { money: _money, payment: _payment, claimed: _claimed, ...told } = outcome
    return told
  })
}
