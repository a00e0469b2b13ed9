/**
 * What a decline means for the saved card that was charged:
 * - `soft`: another try may succeed later;
 * - `hard`: no more with this card: it is stolen, closed or expired, its token is gone, or its
 *   owner has revoked the permission;
 * - `authentication`: its owner must confirm the payment.
 */
export type DeclineKind = 'soft' | 'hard' | 'authentication'

const codeGrammar = /^[\w.:-]{1,64}$/
/** A card number has no fewer digits. */
const tooManyDigits = /\d{12}/

/**
 * A provider's code of a decline, fit to be stored and shown; undefined for any other text: one
 * that is long, has blanks, or may hold a card number.
 */
export function declineCodeIn(text: string | undefined): string | undefined {
  return text !== undefined && codeGrammar.test(text) && !tooManyDigits.test(text)
    ? text
    : undefined
}
