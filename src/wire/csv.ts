/** By it a spreadsheet knows that the text is UTF-8: without, names are garbled. */
export const byteOrderMark = '\u{feff}'

/** Whether a line is about real money. */
export function modeCell(live: boolean | null): string {
  return live === null ? 'unknown' : live ? 'live' : 'test'
}

/** A line of a table: https://www.rfc-editor.org/rfc/rfc4180 */
export function csvRow(fields: readonly string[]): string {
  return `${fields.map(fieldOf).join(',')}\r\n`
}

/** Where a cell may begin that begins with a formula, behind blanks and quotes at most. */
const formula = /(?<=^|[;\t\r\n])(?=(?:["']|[^\S\t\r\n])*[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20])/gu

/**
 * A spreadsheet computes what begins like a formula, and anybody can choose a name: an apostrophe
 * before it makes it text. Where a semicolon or a tab parts cells, quotes in the middle of one do not
 * count, so that a cell may begin behind it. https://owasp.org/www-community/attacks/CSV_Injection
 */
function fieldOf(text: string): string {
  const plain = text.replaceAll(formula, "'")
  return /[",;\r\n\t]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
