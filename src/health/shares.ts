import type { GatewayCount } from '../database/read-counts.ts'
import type { Decisions } from '../inspect/gateway-facts.ts'
import { sumOf } from '../inspect/refusals.ts'

// Which share of some counts is too much. A share is looked at only where there is enough to divide.

/** Of its callbacks, in so many minutes, a gateway refuses too much. */
export const refusing = { share: 0.05, fewest: 20, minutes: 15 } as const
/** Of the payments of an hour, too much was found by asking: callbacks do not come. */
export const asking = { share: 0.2, fewest: 20 } as const
/** So many callbacks with a wrong signature, and none accepted: the secret is wrong. */
const fewestForged = 3

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

/**
 * Whether a gateway refuses too much in the fifteen minutes up to `now`, and since when: quarters of an
 * hour are looked at one after the other, back to one in which it did not.
 */
export function refusedShare(minutes: readonly Minute[], now: Date): RefusedShare | undefined {
  const windows = new Map<number, Minute[]>()
  for (const minute of minutes) {
    const age = Math.max(0, Math.floor((now.getTime() - minute.at.getTime()) / minuteMs))
    const place = Math.floor(age / refusing.minutes)
    windows.set(place, [...(windows.get(place) ?? []), minute])
  }
  const last = shareOf(windows.get(0) ?? [])
  if (last.answered < refusing.fewest || !isTooMuch(last)) return undefined
  let since = last.since
  for (let place = 1; ; place += 1) {
    const share = shareOf(windows.get(place) ?? [])
    if (share.answered === 0 || !isTooMuch(share)) return { ...last, since }
    since = share.since
  }
}

function isTooMuch({ refused, answered }: RefusedShare): boolean {
  return refused > answered * refusing.share
}

function shareOf(minutes: readonly Minute[]): RefusedShare {
  const sum = (of: (minute: Minute) => number) => minutes.reduce((all, one) => all + of(one), 0)
  const answered = sum((minute) => minute.answered)
  const withRefusals = minutes.filter((minute) => minute.accepted < minute.answered)
  const since = new Date(Math.min(...withRefusals.map(({ at }) => at.getTime())))
  return { refused: answered - sum(({ accepted }) => accepted), answered, since }
}

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

/** Whether callbacks do not come. */
export function asksTooMuch({ byCallback, byAsking }: Decisions): boolean {
  const all = byCallback + byAsking
  return all >= asking.fewest && byAsking > all * asking.share
}
