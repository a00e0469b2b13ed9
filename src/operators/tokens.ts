import { createHash, randomBytes } from 'node:crypto'

const prefix = 'qop_'
const randomBytesOfOne = 32
/** 32 bytes in base64url. */
const pattern = /^qop_[A-Za-z0-9_-]{43}$/

/** A new token of an operator: nobody can guess it, so a plain hash of it may be stored. */
export function newToken(): string {
  return prefix + randomBytes(randomBytesOfOne).toString('base64url')
}

/** One within a text. */
export const tokenInText = /qop_[A-Za-z0-9_-]{43}/g

/** Whether a text can be one: nothing else is looked up. */
export function looksLikeToken(text: string): boolean {
  return pattern.test(text)
}

/** What is stored of it. */
export function hashOf(secretText: string): Buffer {
  return createHash('sha256').update(secretText).digest()
}
