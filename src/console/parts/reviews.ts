import type { Html } from '../../http/pages/layout.ts'
import type { ReviewState } from '../../payments/review.ts'
import { badge, type Tone } from './values.ts'

const tones: Readonly<Record<ReviewState, Tone>> = { open: 'bad', handled: 'good' }

export function reviewBadge(state: ReviewState): Html {
  return badge(state, tones[state])
}
