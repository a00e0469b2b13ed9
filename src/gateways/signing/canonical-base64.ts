/**
 * Decodes base64 of the standard alphabet with its padding; undefined for any other text. Node's
 * own decoder accepts junk, blanks, the URL alphabet and missing padding, so the text must come out
 * again exactly as it was.
 */
export function decodeCanonicalBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
