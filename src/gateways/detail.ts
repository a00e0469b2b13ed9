import { cutMark } from '../kernel/secret.ts'

const longestDetail = 100
const controlCharacter = /\p{Cc}/gu

/**
 * A provider's text, made fit for logs and stored results: bounded, well formed, no control
 * characters.
 */
export function detail(text: string): string {
  const kept = text.length > longestDetail ? text.slice(0, longestDetail - 1) + cutMark : text
  return kept.toWellFormed().replaceAll(controlCharacter, '\ufffd')
}
