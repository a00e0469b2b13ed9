/** Whole numbers, e.g. ids and amounts in minor units. */
export const digits = /^\d+$/

/** `DD.MM.YYYY HH:MM:SS`; the time zone is not documented. */
export const dateTime = /^\d{2}\.\d{2}\.\d{4} \d{2}:\d{2}:\d{2}$/

/** An order's status, including ones that we do not know. */
export const statusWord = /^[a-z]+(?:_[a-z]+)*$/

/** `444455XXXXXX1111`: the first and the last digits of a card. */
export const maskedCard = /^\d{6,8}[Xx*]{2,9}(\d{4})$/

/** The names of the operations that we use. */
export const operations: ReadonlySet<unknown> = new Set(['purchase', 'reverse', 'verification'])

/** The stages of checking a card. */
export const verificationWords: ReadonlySet<string> = new Set([
  'created',
  'failed',
  'incorrect',
  'verified',
])
