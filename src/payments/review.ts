import * as field from '../kernel/noun.ts'
import { byChoice, byGateway, byId, byWord, orNull } from '../kernel/noun.ts'
import type { JsonValues, Values } from '../kernel/noun.ts'
import { reviewReasons } from './reasons.ts'

export const reviewStates = ['open', 'handled'] as const
/** `open`: a person must look; `handled`: one has, or there is nothing left to look at. */
export type ReviewState = (typeof reviewStates)[number]

const statedFields = {
  /** The provider's id. */
  reference: orNull(field.text()),
  /** Minor units. */
  amount: orNull(field.minorUnits()),
  currency: orNull(field.text()),
}
/** What was stated, and what it was stated of; what is unknown is null. */
export interface StatedMoney extends Values<typeof statedFields> {}

export const reviewFields = {
  id: field.id('review'),
  state: field.choice(reviewStates),
  /** One of `reviewReasons`; a later version may know more. */
  reason: field.text(),
  /** What exactly was found. */
  detail: orNull(field.text()),
  gateway: field.text({ of: 'gateway' }),
  paymentId: orNull(field.id('payment')),
  periodId: orNull(field.id('period')),
  subscriptionId: orNull(field.id('subscription')),
  /** The call that said it first. It is deleted after a while, the review stays. */
  webhookCallId: orNull(field.id('call')),
  stated: field.part(statedFields),
  /** What was expected instead. */
  expected: orNull(field.money()),
  /** How often it was said: by redelivered callbacks, by polls. */
  times: field.count(),
  /** Who handled it; null: nobody, or nobody who gave a name. */
  operator: orNull(field.text()),
  note: orNull(field.text()),
  /** Grows whenever the state changes. */
  version: field.count(),
  createdAt: field.time(),
  /** When it was last said. */
  lastAt: field.time(),
  handledAt: orNull(field.time()),
}

/** Something that a person must look at, because money may be involved. */
export interface Review extends Values<typeof reviewFields> {
  /** As the management API shows it. A copy (`{ ...review }`) is without it. */
  toJSON(): ReviewJson
}

/** What narrows a list of reviews. */
export const reviewFilters = {
  state: byChoice(reviewStates),
  reason: byWord(reviewReasons, 'only for this reason: see docs/5-operations.md'),
  gateway: byGateway,
  paymentId: byId('payment'),
}

/** A review in JSON. */
export interface ReviewJson extends JsonValues<typeof reviewFields> {
  /** What was found, for people; the wording may change. */
  readonly in_words: string
}
