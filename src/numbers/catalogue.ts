interface CatalogueEntry {
  /** What is counted, in a sentence: monitoring shows it. */
  readonly help: string
  /** `gateway` comes first where there is one. */
  readonly labels: readonly string[]
  /** The label whose values are not known beforehand: all beyond the first are counted as `other`. */
  readonly open?: string
}

/** Everything that is counted. The name goes out as `quittance_<name>`. */
export const counters = {
  callbacks_total: {
    help: 'Callbacks by how they were answered.',
    labels: ['gateway', 'answer'],
  },
  callbacks_refused_total: {
    help: 'Callbacks that were answered 403, or 503 for want of what the check needs, by reason.',
    labels: ['gateway', 'reason'],
    open: 'reason',
  },
  verified_by_total: {
    help: 'Verified callbacks by the secret that verified them: 1 is the first that is configured.',
    labels: ['gateway', 'secret'],
    open: 'secret',
  },
  calls_finished_total: {
    help: 'Stored calls that reached their end: processed, ignored or failed.',
    labels: ['gateway', 'state'],
  },
  calls_ignored_total: {
    help: 'Outcomes of calls that changed nothing, by reason.',
    labels: ['gateway', 'reason'],
    open: 'reason',
  },
  attempts_failed_total: {
    help: 'Attempts at calls that failed, by who failed: listener, provider, database, worker_lost or code.',
    labels: ['gateway', 'kind'],
  },
  payments_decided_total: {
    help: 'Payments that were decided, by the status and by who said so: call, poll, operator or service.',
    labels: ['gateway', 'status', 'cause'],
  },
  events_total: {
    help: 'Events, each counted once.',
    labels: ['type', 'source'],
  },
  deliveries_finished_total: {
    help: 'Deliveries to queued listeners that reached their end: delivered or failed.',
    labels: ['listener', 'state'],
    open: 'listener',
  },
  provider_requests_total: {
    help: 'Questions to providers, by what was asked and how it ended: answered, refused, invalid, unreachable or failed.',
    labels: ['gateway', 'operation', 'result'],
  },
  forward_attempts_total: {
    help: 'Requests to endpoints, by how they ended.',
    labels: ['endpoint', 'result'],
    open: 'endpoint',
  },
  sign_ins_total: {
    help: 'Tries to sign in to the console with a token: signed_in, refused or limited.',
    labels: ['result'],
  },
  commit_unknown_total: {
    help: 'Statements whose answer was lost, by where, and whether they turned out to be committed.',
    labels: ['site', 'resolution'],
  },
  counts_lost_total: {
    help: 'Values of these counters that were dropped because the database was away for too long.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>

/** Everything that is timed, in seconds. */
export const histograms = {
  callback_seconds: {
    help: 'From a complete callback to its answer, accepted or not.',
    labels: ['gateway'],
  },
  call_delay_seconds: {
    help: 'From the receipt of a call to the end of its first processing.',
    labels: ['gateway'],
  },
  provider_request_seconds: {
    help: 'How long providers took to answer.',
    labels: ['gateway', 'operation'],
  },
  flush_seconds: {
    help: 'How long the database took to store a group of callbacks.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>

/** What is read of the database: its values are those of the moment. */
export interface GaugeEntry {
  readonly help: string
  readonly labels: readonly string[]
}

/** One reading of a gauge. */
export interface GaugeValue {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export type CounterName = keyof typeof counters
export type HistogramName = keyof typeof histograms
export type MetricName = CounterName | HistogramName

/** The values of a metric's labels, by name. */
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<(typeof metrics)[Name]['labels'][number], string>
>

export const metrics = { ...counters, ...histograms }

/** Upper bounds of what is timed, in seconds. */
export const buckets = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800,
] as const

export function entryOf(name: MetricName): CatalogueEntry {
  return metrics[name]
}
