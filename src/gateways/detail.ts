const longestDetail = 100
const controlCharacter = /\p{Cc}/gu

/**
 * A provider's text, made fit for logs and stored results: bounded, well formed, no control
 * characters.
 */
export function detail(text: string): string {
  return text.slice(0, longestDetail).toWellFormed().replaceAll(controlCharacter, '\ufffd')
}
