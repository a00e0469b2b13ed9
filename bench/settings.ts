/** How much is measured. */
export interface Settings {
  readonly connections: number
  readonly rounds: number
  readonly warmUpMs: number
  readonly roundMs: number
  /** Signed requests made beforehand; each is about another event and payment. */
  readonly requests: number
  /** Stored calls that a worker is started on. */
  readonly backlog: { readonly postgres: number; readonly embedded: number }
  readonly backlogRounds: number
}

export const full: Settings = {
  connections: 64,
  rounds: 3,
  warmUpMs: 1_000,
  roundMs: 3_000,
  requests: 40_000,
  backlog: { postgres: 10_000, embedded: 3_000 },
  backlogRounds: 2,
}

/** Shows that the bench still works; its figures mean nothing. */
export const quick: Settings = {
  connections: 8,
  rounds: 1,
  warmUpMs: 100,
  roundMs: 300,
  requests: 1_000,
  backlog: { postgres: 200, embedded: 100 },
  backlogRounds: 1,
}
