/** How much is measured. */
export interface Settings {
  /** Senders at the same time; the intake is measured with each number of them. */
  readonly connections: readonly number[]
  readonly rounds: number
  /** What counting costs is a small difference. */
  readonly numbersRounds: number
  /** People at the console are a small difference, too; a round is as long as some of their looks. */
  readonly viewers: { readonly rounds: number; readonly roundMs: number; readonly requests: number }
  /** Before the first round, for code to be compiled. */
  readonly firstWarmUpMs: number
  readonly warmUpMs: number
  readonly roundMs: number
  /** Signed requests made beforehand; each is about another event and payment. */
  readonly requests: number
  /** Stored calls that a worker is started on. */
  readonly backlog: { readonly postgres: number; readonly embedded: number }
  readonly backlogRounds: number
  /** Callbacks that one process takes in and processes at the same time. */
  readonly together: { readonly postgres: number; readonly embedded: number }
  /** Payments, each with an event. */
  readonly feed: number
  readonly feedRounds: number
  readonly forwarding: { readonly events: number; readonly living: number; readonly dead: number }
  readonly latency: { readonly perSecond: number; readonly seconds: number }
  /** Finished calls beside the backlog. */
  readonly finished: number
  readonly renewals: {
    readonly due: number
    /** Subscriptions that nothing is to be done for. */
    readonly resting: number
    readonly rounds: number
    /** Looks for due subscriptions while there are none. */
    readonly looks: number
  }
  readonly usage: {
    /** Of how many usage is recorded, besides one. */
    readonly subscriptions: number
    readonly senders: number
    readonly milliseconds: number
    readonly rounds: number
    /** How often it is looked up. */
    readonly reads: number
  }
  readonly polling: {
    /** Payments that nobody pays. */
    readonly open: number
    /** Managed subscriptions that are due. */
    readonly syncs: number
    readonly minutes: number
  }
  /** Calls beside which pages of the console are made. */
  readonly console: number
  readonly commandRounds: number
}

export const full: Settings = {
  connections: [64, 256],
  rounds: 3,
  numbersRounds: 9,
  viewers: { rounds: 30, roundMs: 5_000, requests: 140_000 },
  firstWarmUpMs: 8_000,
  warmUpMs: 1_000,
  roundMs: 3_000,
  requests: 40_000,
  backlog: { postgres: 50_000, embedded: 5_000 },
  backlogRounds: 3,
  together: { postgres: 30_000, embedded: 20_000 },
  feed: 20_000,
  feedRounds: 5,
  forwarding: { events: 10_000, living: 40, dead: 10 },
  latency: { perSecond: 200, seconds: 20 },
  finished: 2_000_000,
  renewals: { due: 10_000, resting: 200_000, rounds: 1, looks: 2_000 },
  usage: { subscriptions: 10_000, senders: 1_000, milliseconds: 5_000, rounds: 3, reads: 2_000 },
  polling: { open: 100_000, syncs: 10_000, minutes: 14 },
  console: 1_000_000,
  commandRounds: 9,
}

/** Shows that the bench still works; its figures mean nothing. */
export const quick: Settings = {
  connections: [8],
  rounds: 1,
  numbersRounds: 1,
  viewers: { rounds: 1, roundMs: 300, requests: 1_000 },
  firstWarmUpMs: 200,
  warmUpMs: 50,
  roundMs: 300,
  requests: 1_000,
  backlog: { postgres: 120, embedded: 50 },
  backlogRounds: 1,
  together: { postgres: 120, embedded: 50 },
  feed: 120,
  feedRounds: 1,
  forwarding: { events: 40, living: 4, dead: 4 },
  latency: { perSecond: 200, seconds: 1 },
  finished: 200,
  renewals: { due: 40, resting: 200, rounds: 1, looks: 20 },
  usage: { subscriptions: 50, senders: 8, milliseconds: 200, rounds: 1, reads: 20 },
  polling: { open: 2_000, syncs: 200, minutes: 14 },
  console: 200,
  commandRounds: 1,
}
