import type { StuckKind, StuckSum } from '../database/stuck-payments.ts'
import type { GatewayCount } from '../database/read-counts.ts'
import type { FailedCounts } from '../database/failed-rows.ts'
import type { FailedGroup, FailedKind } from './failed-groups.ts'
import { sumOf, type ReasonCount } from './refusals.ts'

/** Something that a person should see to, with its figures; counts end at 10,001. */
export type Problem =
  | {
      /** More than 5 % of at least 20 callbacks were refused in the last 15 minutes. */
      readonly kind: 'gateway_refuses'
      readonly gateway: string
      readonly refused: number
      readonly answered: number
      /** Why most of them were. */
      readonly main: ReasonCount | null
      /** Since when it has been so without a break; it is looked back for three hours. */
      readonly since: Date
    }
  | {
      /**
       * In the last 24 hours, none of its callbacks was accepted, and the signature of at least three was
       * wrong: mostly the secret is.
       */
      readonly kind: 'gateway_unverified'
      readonly gateway: string
      readonly refused: number
    }
  | {
      /** Some failed for good: nobody tries them again. */
      readonly kind: 'failed'
      readonly what: FailedKind
      readonly count: number
      readonly newestAt: Date | null
      /** The listener, or the endpoint, that more than half of the newest failed at. */
      readonly mostly: string | null
    }
  | {
      /** A call has been due for more than a minute. */
      readonly kind: 'calls_wait'
      readonly pending: number
      readonly oldestSeconds: number
    }
  | {
      /** Something waits, and no worker runs. */
      readonly kind: 'no_worker'
      readonly pendingCalls: number
      readonly pendingDeliveries: number
    }
  | {
      /**
       * Of at least 20 payments that were paid or declined in the last hour, more than 20 % were found
       * by asking the provider: its callbacks do not come.
       */
      readonly kind: 'found_by_asking'
      readonly gateway: string
      readonly byAsking: number
      readonly byCallback: number
    }
  | ({ readonly kind: 'stuck'; readonly stuck: StuckKind } & StuckSum)
  | {
      /** A person must look. */
      readonly kind: 'reviews_open'
      readonly count: number
      readonly oldest: Date | null
    }
  | {
      /** It has been due for more than an hour, and has not run. */
      readonly kind: 'schedule_overdue'
      readonly schedule: string
      readonly overdueSeconds: number
    }
  | {
      /** Nothing is sent to an endpoint, because of what it answered. */
      readonly kind: 'endpoint_disabled'
      readonly endpointId: string
      readonly endpoint: string
      readonly reason: string
      readonly since: Date
    }

interface Minute {
  readonly at: Date
  readonly answered: number
  readonly accepted: number
}

interface RefusedShare {
  readonly refused: number
  readonly answered: number
  readonly since: Date
}

const minuteMs = 60_000
/** Over so many minutes shares are taken. */
const windowMinutes = 15
const fewestCallbacks = 20
const mostRefused = 0.05

/**
 * Whether a gateway refuses too much in the fifteen minutes up to `now`, and since when: quarters of an
 * hour are looked at one after the other, back to one in which it did not.
 */
export function refusedShare(minutes: readonly Minute[], now: Date): RefusedShare | undefined {
  const windows = new Map<number, Minute[]>()
  for (const minute of minutes) {
    const age = Math.max(0, Math.floor((now.getTime() - minute.at.getTime()) / minuteMs))
    const place = Math.floor(age / windowMinutes)
    windows.set(place, [...(windows.get(place) ?? []), minute])
  }
  const last = shareOf(windows.get(0) ?? [])
  if (last.answered < fewestCallbacks || !isTooMuch(last)) return undefined
  let since = last.since
  for (let place = 1; ; place += 1) {
    const share = shareOf(windows.get(place) ?? [])
    if (share.answered === 0 || !isTooMuch(share)) return { ...last, since }
    since = share.since
  }
}

function isTooMuch({ refused, answered }: RefusedShare): boolean {
  return refused > answered * mostRefused
}

function shareOf(minutes: readonly Minute[]): RefusedShare {
  const sum = (of: (minute: Minute) => number) => minutes.reduce((all, one) => all + of(one), 0)
  const answered = sum((minute) => minute.answered)
  const refusing = minutes.filter((minute) => minute.accepted < minute.answered)
  const since = new Date(Math.min(...refusing.map(({ at }) => at.getTime())))
  return { refused: answered - sum(({ accepted }) => accepted), answered, since }
}

const fewestForged = 3

/** Whether callbacks come to a gateway, and none of them has a signature of its secret. */
export function unverified(counted: readonly GatewayCount[]): number | undefined {
  const refused = sumOf(
    counted,
    'callbacks_refused_total',
    (reason) => reason === 'signature_mismatch',
  )
  const accepted = sumOf(counted, 'callbacks_total', (answer) => answer === 'accepted')
  return accepted === 0 && refused >= fewestForged ? refused : undefined
}

const fewestDecisions = 20
const mostByAsking = 0.2

/** Those that a callback, or an answer to a question, decided. */
export interface Decisions {
  readonly byCallback: number
  readonly byAsking: number
}

/** Whether callbacks do not come. */
export function asksTooMuch({ byCallback, byAsking }: Decisions): boolean {
  const all = byCallback + byAsking
  return all >= fewestDecisions && byAsking > all * mostByAsking
}

/** Of labels like `paid/poll`; checkouts that nobody paid are found by asking anyway. */
export function decisionsOf(
  counted: readonly { readonly label: string; readonly value: number }[],
): Decisions {
  const by = (cause: string) =>
    counted
      .filter(({ label }) => label === `paid/${cause}` || label === `failed/${cause}`)
      .reduce((sum, { value }) => sum + value, 0)
  return { byCallback: by('call'), byAsking: by('poll') }
}

const countNames = {
  call: 'calls',
  delivery: 'deliveries',
  deferred_event: 'deferredEvents',
  forward: 'forwards',
} as const satisfies Readonly<Record<FailedKind, keyof FailedCounts>>

/** `groups`: of some of the newest. */
export function failedProblems(
  counts: FailedCounts,
  groups: readonly FailedGroup[],
): readonly Problem[] {
  return Object.entries(countNames).flatMap(([kind, name]) => {
    const count = counts[name]
    if (count === 0) return []
    const own = groups.filter((group) => group.kind === kind)
    const [newest] = own
    const what = kind as FailedKind
    return [
      { kind: 'failed', what, count, newestAt: newest?.newestAt ?? null, mostly: mostlyOf(own) },
    ]
  })
}

function mostlyOf(groups: readonly FailedGroup[]): string | null {
  const names = new Map<string, number>()
  const all = groups.reduce((sum, { count }) => sum + count, 0)
  for (const group of groups) {
    const name = group.kind === 'forward' ? group.endpoint : group.listener
    if (name !== null) names.set(name, (names.get(name) ?? 0) + group.count)
  }
  return [...names].find(([, count]) => count > all / 2)?.[0] ?? null
}
