/** What the refusal of a callback means to a person. */
export interface RefusalWords {
  readonly meaning: string
  /** What it comes of, mostly. */
  readonly cause: string
  readonly fix: string
}
