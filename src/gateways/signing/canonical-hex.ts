const lowerCaseHex = /^[0-9a-f]+$/

/**
 * Decodes lower-case hex of exactly `byteCount` bytes; undefined for any other text. Node's own
 * decoder stops silently at the first bad character, so the grammar is checked first.
 */
export function decodeCanonicalHex(text: string, byteCount: number): Uint8Array | undefined {
  if (text.length !== byteCount * 2 || !lowerCaseHex.test(text)) return undefined
  return Buffer.from(text, 'hex')
}
