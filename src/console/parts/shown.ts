import { visibleText, wholeText } from '../../http/visible-text.ts'
import { maskCardNumbers } from '../../intake/mask-card-data.ts'

/**
 * Foreign text for a person: what would hide or reorder its neighbours is spelled out, and of what
 * could be a card's number only its ends are left. At most 200 characters.
 */
export function shown(text: string): string {
  return visibleText(maskCardNumbers(text))
}

/** The same, as long as it is. */
export function shownWhole(text: string): string {
  return wholeText(maskCardNumbers(text))
}

/** The same of a text with lines, which stay lines. */
export function shownLines(text: string): string {
  return maskCardNumbers(text).split(/\r?\n/).map(wholeText).join('\n')
}
