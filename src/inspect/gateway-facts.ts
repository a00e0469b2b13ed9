import type { Kysely } from 'kysely'
import {
  readGatewayCounts,
  readLastCounts,
  type GatewayCount,
  type LastCount,
} from '../database/read-counts.ts'
import type { Tables } from '../database/tables.ts'
import { hours } from '../kernel/duration.ts'
import { refusalsOf, sumOf, type ReasonCount } from './refusals.ts'

/** A secret that verified a callback. */
export interface UsedSecret {
  /** 1 is the first that is configured; `other`: there were too many to tell apart. */
  readonly secret: string
  /** Callbacks of the last 24 hours. */
  readonly verified: number
  /** To the minute of the last hours, to a quarter of an hour of a week, then to the hour. */
  readonly lastAt: Date
}

/** Payments that a callback, or an answer to a question, decided. */
export interface Decisions {
  readonly byCallback: number
  readonly byAsking: number
}

/** What was counted of a gateway; of the last 24 hours, where nothing else is said. */
export interface GatewayFacts {
  readonly name: string
  /** In the exactness of `UsedSecret.lastAt`; null: none in 90 days. */
  readonly lastAcceptedAt: Date | null
  readonly accepted: number
  /** The most frequent reason first. */
  readonly refused: readonly ReasonCount[]
  /** Payments that were paid or declined: how that became known. */
  readonly decided: Decisions
  /** Those that verified a callback in 90 days, by their places. */
  readonly secrets: readonly UsedSecret[]
}

const metrics = [
  'callbacks_total',
  'callbacks_refused_total',
  'payments_decided_total',
  'verified_by_total',
]

/** Of each of these gateways, in their order. Two statements over what was counted. */
export async function readGatewayFacts(
  db: Kysely<Tables>,
  names: readonly string[],
): Promise<readonly GatewayFacts[]> {
  const counted = await readGatewayCounts(db, metrics, { span: 'quarter', within: hours(24) })
  const lasts = await readLastCounts(db)
  return names.map((name) => {
    const own = <Row extends { readonly gateway: string }>(rows: readonly Row[]) =>
      rows.filter(({ gateway }) => gateway === name)
    return factsOf(name, own(counted), own(lasts))
  })
}

function factsOf(
  name: string,
  counted: readonly GatewayCount[],
  lasts: readonly LastCount[],
): GatewayFacts {
  const accepted = lasts.find(({ metric }) => metric === 'callbacks_total')
  return {
    name,
    lastAcceptedAt: accepted?.at ?? null,
    accepted: sumOf(counted, 'callbacks_total', (label) => label === 'accepted'),
    refused: refusalsOf(counted),
    decided: decisionsOf(counted.filter(({ metric }) => metric === 'payments_decided_total')),
    secrets: lasts
      .filter(({ metric }) => metric === 'verified_by_total')
      .map(({ label: secret, at: lastAt }) => ({
        secret,
        verified: sumOf(counted, 'verified_by_total', (label) => label === secret),
        lastAt,
      }))
      .toSorted((a, b) => placeOf(a) - placeOf(b)),
  }
}

function placeOf({ secret }: UsedSecret): number {
  const place = Number(secret)
  return Number.isNaN(place) ? Number.MAX_SAFE_INTEGER : place
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
