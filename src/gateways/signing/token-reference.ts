import { createHash } from 'node:crypto'

const maskedToken = /^masked:([0-9a-f]{32})$/

/**
 * Stands for a card's token wherever the token itself must not be: the beginning of its SHA-256.
 * Tokens are long and random, so the token cannot be found from it.
 */
export function tokenReference(token: string): string {
  return maskedToken.exec(token)?.[1] ?? fingerprint(token)
}

/** What a stored payload shows instead of a token; `tokenReference` is the same for both. */
export function maskToken(token: string): string {
  return `masked:${fingerprint(token)}`
}

/** Whether a text in a payload stands for a masked token. */
export function isMaskedToken(text: string): boolean {
  return maskedToken.test(text)
}

function fingerprint(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 32)
}
