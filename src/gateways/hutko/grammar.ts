/** Whole numbers, e.g. ids and amounts in minor units. */
export const digits = /^\d+$/

/** `DD.MM.YYYY HH:MM:SS`; which time zone is not stated anywhere. */
export const dateTime = /^\d{2}\.\d{2}\.\d{4} \d{2}:\d{2}:\d{2}$/

/** An order's status, one that we do not know included. */
export const statusWord = /^[a-z]+(?:_[a-z]+)*$/

/** `444455XXXXXX1111`: the first and the last digits of a card. */
export const maskedCard = /^\d{6,8}[Xx*]{2,9}(\d{4})$/

/** What the operations are called that mean something to us. */
export const operations: ReadonlySet<unknown> = new Set(['purchase', 'reverse', 'verification'])

/** How far the check of a card has come. */
export const verificationWords: ReadonlySet<string> = new Set([
  'created',
  'failed',
  'incorrect',
  'verified',
])
