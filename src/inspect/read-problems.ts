import { isDeliveryDue, readDisabledEndpoints, readOldestReview } from '../database/attention.ts'
import type { Database } from '../database/connect.ts'
import { countFailed } from '../database/failed-rows.ts'
import { readAnsweredMinutes, readGatewayCounts } from '../database/read-counts.ts'
import { readInOrder } from '../database/read-in-order.ts'
import { stuckKinds, sumStuck } from '../database/stuck-payments.ts'
import { countWorkers } from '../database/workers.ts'
import { hours, minutes } from '../kernel/duration.ts'
import type { GaugeName } from '../numbers/catalogue.ts'
import type { GaugeValue } from '../numbers/gauge-value.ts'
import { readFailedGroups } from './failed.ts'
import {
  asksTooMuch,
  decisionsOf,
  failedProblems,
  refusedShare,
  unverified,
  type Problem,
} from './problems.ts'
import { refusalsOf } from './refusals.ts'

/** What is known before. */
export interface ProblemsContext {
  readonly now: Date
  /** Names of the gateways that this process knows. */
  readonly gateways: readonly string[]
  readonly gauges: readonly GaugeValue[]
}

type Read = (database: Database, context: ProblemsContext) => Promise<readonly Problem[]>

/** The most urgent first. Each statement is bounded, and no more than one runs at a time. */
export async function readProblems(
  database: Database,
  context: ProblemsContext,
): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  for (const read of [
    readWaiting,
    readRefused,
    readUnverified,
    readFailures,
    readFoundByAsking,
    readStuckMoney,
    readReviews,
    readSchedules,
    readEndpoints,
  ]) {
    problems.push(...(await read(database, context)))
  }
  return problems
}

/** The sum of a gauge, of one state if it has several. */
export function gaugeOf(gauges: readonly GaugeValue[], name: GaugeName, state?: string): number {
  return gauges
    .filter((one) => one.name === name && (state === undefined || one.labels['state'] === state))
    .reduce((sum, { value }) => sum + value, 0)
}

const tooLongSeconds = 60
/** A worker that runs takes a call before. */
const takenWithinSeconds = 15

const readWaiting: Read = async ({ db }, { gauges }) => {
  const oldestSeconds = gaugeOf(gauges, 'oldest_pending_seconds')
  const pending = gaugeOf(gauges, 'calls', 'pending')
  const pendingDeliveries = gaugeOf(gauges, 'deliveries', 'pending')
  const isDue = oldestSeconds > takenWithinSeconds || (await isDeliveryDue(db))
  const noWorker = isDue && (await countWorkers(db)) === 0
  return [
    ...(noWorker ? [{ kind: 'no_worker', pendingCalls: pending, pendingDeliveries } as const] : []),
    ...(oldestSeconds > tooLongSeconds
      ? [{ kind: 'calls_wait', pending, oldestSeconds } as const]
      : []),
  ]
}

const readRefused: Read = async ({ db }, { now }) => {
  const answered = await readAnsweredMinutes(db, hours(3))
  const found = [...new Set(answered.map(({ gateway }) => gateway))].flatMap((gateway) => {
    const share = refusedShare(
      answered.filter((minute) => minute.gateway === gateway),
      now,
    )
    return share === undefined ? [] : [{ gateway, ...share }]
  })
  if (found.length === 0) return []
  const metrics = ['callbacks_total', 'callbacks_refused_total']
  const counted = await readGatewayCounts(db, metrics, { span: 'minute', within: minutes(15) })
  return found
    .toSorted((a, b) => b.refused / b.answered - a.refused / a.answered)
    .map(({ gateway, refused, answered: all, since }) => {
      const [main = null] = refusalsOf(counted.filter((one) => one.gateway === gateway))
      return { kind: 'gateway_refuses', gateway, refused, answered: all, main, since }
    })
}

/** Gateways none of whose callbacks verified: how many were refused for it. */
export async function findUnverified(db: Database['db']): Promise<ReadonlyMap<string, number>> {
  const metrics = ['callbacks_total', 'callbacks_refused_total']
  const counted = await readGatewayCounts(db, metrics, { span: 'quarter', within: hours(24) })
  const found = [...Map.groupBy(counted, ({ gateway }) => gateway)].flatMap(([gateway, own]) => {
    const refused = unverified(own)
    return refused === undefined ? [] : [[gateway, refused] as const]
  })
  return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const readUnverified: Read = async ({ db }) =>
  Array.from(await findUnverified(db), ([gateway, refused]) => {
    return { kind: 'gateway_unverified', gateway, refused }
  })

const readFailures: Read = async (database) => {
  const counts = await readInOrder(database, countFailed)
  if (Object.values(counts).every((count) => count === 0)) return []
  const groups = await readFailedGroups(database, { rows: 100, groups: 100, ids: 1 })
  return failedProblems(counts, groups)
}

const readFoundByAsking: Read = async ({ db }) => {
  const counted = await readGatewayCounts(db, ['payments_decided_total'], {
    span: 'minute',
    within: hours(1),
  })
  return [...new Set(counted.map(({ gateway }) => gateway))].toSorted().flatMap((gateway) => {
    const decisions = decisionsOf(counted.filter((one) => one.gateway === gateway))
    return asksTooMuch(decisions) ? [{ kind: 'found_by_asking', gateway, ...decisions }] : []
  })
}

const readStuckMoney: Read = (database, { gateways }) =>
  readInOrder(database, async (db) => {
    const problems: Problem[] = []
    for (const stuck of stuckKinds) {
      const sum = await sumStuck(db, { stuck, gateways })
      if (sum.count > 0) problems.push({ kind: 'stuck', stuck, ...sum })
    }
    return problems
  })

const readReviews: Read = async ({ db }, { gauges }) => {
  const count = gaugeOf(gauges, 'reviews_open')
  return count === 0 ? [] : [{ kind: 'reviews_open', count, oldest: await readOldestReview(db) }]
}

const overdueSeconds = 3_600

const readSchedules: Read = async (_database, { gauges }) =>
  gauges
    .filter(({ name, value }) => name === 'schedule_overdue_seconds' && value > overdueSeconds)
    .map(({ labels, value }) => ({
      kind: 'schedule_overdue',
      schedule: labels['name'] ?? '',
      overdueSeconds: value,
    }))

const readEndpoints: Read = async ({ db }) =>
  (await readDisabledEndpoints(db)).map(({ id, name, reason, since }) => ({
    kind: 'endpoint_disabled',
    endpointId: id,
    endpoint: name,
    reason,
    since,
  }))
