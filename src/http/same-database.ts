import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../kernel/secret.ts'

/**
 * How a command finds out whether a service works on its own database: it sends a number that is
 * used once, signed with the key of the database, and the service signs it in another way. Neither
 * the key nor anything made with it goes to somebody who does not have it: a question that is not
 * signed with it is answered with null, and an answer fits no other question.
 */
export const questionHeader = 'x-quittance-database'

export interface Question {
  /** The value of the header. */
  readonly text: string
  /** Whether an answer was made with the key, for this question. */
  isAnsweredBy(answer: unknown): boolean
}

export function newQuestion(key: Secret): Question {
  const once = randomBytes(16).toString('hex')
  return {
    text: `${once}.${signed(key, 'question', once)}`,
    isAnsweredBy: (answer) =>
      typeof answer === 'string' && isEqual(answer, signed(key, 'answer', once)),
  }
}

const form = /^([0-9a-f]{32})\.([0-9a-f]{64})$/

/** Whether this is worth a look at the key. */
export function isQuestion(text: string | undefined): text is string {
  return text !== undefined && form.test(text)
}

/** Null if the question is not signed with this key. */
export function answerTo(question: string, key: Secret): string | null {
  const [, once = '', signature = ''] = form.exec(question) ?? []
  return isEqual(signature, signed(key, 'question', once)) ? signed(key, 'answer', once) : null
}

/** The word keeps a question from being its own answer. */
function signed(key: Secret, word: 'question' | 'answer', once: string): string {
  return createHmac('sha256', key.reveal()).update(`${word}:${once}`).digest('hex')
}

/** In constant time. */
function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
