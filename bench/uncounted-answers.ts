import type { AnswerCounts } from '../src/intake/count-answers.ts'

/** In place of what counts each callback. */
export function countAnswers(): AnswerCounts {
  return { answered: () => {}, received: () => {}, refused: () => {}, verified: () => {} }
}
