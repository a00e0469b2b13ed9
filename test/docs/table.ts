/** A table that a page has of what the code knows. */
export interface Table {
  readonly page: string
  /** The heading that it is the first table under; the page's own where it stands before the others. */
  readonly under: string
  /** The heading and the rows; a cell that is undefined says what the page says there. */
  readonly rows: readonly (readonly (string | undefined)[])[]
}

export const code = (text: string) => `\`${text}\``
export const codes = (texts: readonly string[]) => texts.map(code).join(', ')
