import { restGateway } from '../database/charge-holds.ts'
import { postponeSubscription, type SubscriptionLease } from '../queue/due-subscriptions.ts'
import { isPassing } from '../database/failure.ts'
import { databaseNow } from '../database/now.ts'
import { hours, minutes, seconds, type Duration } from '../kernel/duration.ts'
import type { ChargeResult } from '../money/charge-cards.ts'
import { closeForgottenPages } from '../money/close-page.ts'
import type { MoneyContext } from '../money/context.ts'
import { renewSubscriptions, takeDue, type Stepped } from '../money/renew-subscriptions.ts'
import { clockFault } from '../money/subscription-moment.ts'
import { createGatewayPace, type GatewayPace } from './gateway-pace.ts'
import { createLanes, startLanes, workUntilNoneIsDue, type Lanes } from './lanes.ts'
import { repeat } from './repeat.ts'
import { runDueSyncs } from './run-syncs.ts'

/** Saved cards that a process charges at the same time. */
const usualLanes = 4
/** Of one gateway, in one process. */
const usualChargesPerMinute = 120
/** After this many in a row without an answer, the provider is left alone for a while. */
const mostUnanswered = 3
const restAfterUnanswered: Duration = minutes(5)
/**
 * So many subscriptions in a row that were refused by a fault of ours: then every charge is, until
 * somebody mends it. One alone says little of the others: its card may be gone at the provider.
 */
const mostRefused = 3
const restAfterFault: Duration = hours(1)

export interface RunOptions {
  /** Subscriptions worked on at the same time. */
  readonly lanes?: number | undefined
}

interface RunState {
  readonly context: MoneyContext
  readonly pace: GatewayPace
  readonly trouble: Map<string, Trouble>
  /** By gateway: when it was last said that this process cannot charge. */
  readonly complaints: Map<string, number>
}

/** What has gone wrong at a gateway since a charge was last answered well. */
interface Trouble {
  /** Charges in a row without an answer. */
  unanswered: number
  /** Subscriptions that were refused in a row. */
  readonly refused: Set<string>
}

function stepLanes(context: MoneyContext, { lanes = usualLanes }: RunOptions): Lanes {
  const { gateways } = context.processing
  const perMinute = (name: string) =>
    gateways.find(name)?.gateway.chargesPerMinute ?? usualChargesPerMinute
  const pace = createGatewayPace(perMinute, { burst: lanes })
  const running: RunState = { context, pace, trouble: new Map(), complaints: new Map() }
  return createLanes({
    lanes,
    pace,
    take: ({ limit, busy }) => takeDue({ limit, except: busy }, context),
    work: (leases, leave) => work(leases, { running, leave }),
  })
}

/** Never rejects: what fails is due again, and logged. */
function work(
  leases: readonly SubscriptionLease[],
  {
    running,
    leave,
  }: { readonly running: RunState; readonly leave: (lease: SubscriptionLease) => void },
): readonly Promise<void>[] {
  const { pace, context } = running
  for (const { gateway } of leases) pace.reserve(gateway)
  const unplanned = new Set(leases)
  const onPlanned = (lease: SubscriptionLease, makesPayment: boolean) => {
    if (unplanned.delete(lease) && !makesPayment) pace.refund(lease.gateway)
  }
  const stepping = renewSubscriptions(leases, context, { onPlanned, onAnswered: leave })
  return leases.map(async (lease, index) => {
    try {
      await follow(lease, await stepping[index], running)
    } catch (error) {
      await postpone(lease, error, context)
    } finally {
      onPlanned(lease, false)
    }
  })
}

/** What an answer says of the provider, or of us. */
async function follow(
  lease: SubscriptionLease,
  stepped: Stepped | undefined,
  running: RunState,
): Promise<void> {
  const { gateway } = lease
  if (stepped?.kind === 'planned') complain(gateway, stepped.fault, running)
  if (stepped?.kind !== 'charged') return
  const rest = restAfter(stepped.result, noted(lease, stepped.result, running))
  if (rest === undefined) return
  const { database, log } = running.context.processing
  await restGateway(database.db, gateway, rest)
  log.error({ gateway, reason: rest.reason }, 'no saved card of the gateway is charged for a while')
}

/** Once a minute: any number of subscriptions may be due. */
function complain(gateway: string, fault: string | null, running: RunState): void {
  const now = performance.now()
  const last = running.complaints.get(gateway) ?? -Infinity
  if (fault === null || now - last < minutes(1)) return
  running.complaints.set(gateway, now)
  const { log } = running.context.processing
  log.error({ gateway, reason: fault }, 'this process charges no saved card of the gateway')
}

function noted(lease: SubscriptionLease, { kind }: ChargeResult, { trouble }: RunState): Trouble {
  const known = trouble.get(lease.gateway)
  const refused =
    kind === 'refused_by_us' ? new Set(known?.refused).add(lease.id) : new Set<string>()
  const now = { unanswered: kind === 'unknown' ? (known?.unanswered ?? 0) + 1 : 0, refused }
  trouble.set(lease.gateway, now)
  return now
}

function restAfter(
  result: ChargeResult,
  { unanswered, refused }: Trouble,
): { readonly reason: string; readonly length: Duration } | undefined {
  if (result.kind === 'refused_by_us' && refused.size >= mostRefused) {
    return { reason: result.error.message, length: restAfterFault }
  }
  if (result.kind !== 'unknown' || unanswered < mostUnanswered) return undefined
  return { reason: result.error.message, length: restAfterUnanswered }
}

const afterPassing: Duration = seconds(30)
const afterFailure: Duration = minutes(15)

/** If even that fails, the lease ends by itself. */
async function postpone(
  lease: SubscriptionLease,
  error: unknown,
  { processing }: MoneyContext,
): Promise<void> {
  const { database, log, subscriptionTime } = processing
  const entry = { err: error, subscription: lease.id }
  if (isPassing(error)) log.warn(entry, 'a subscription was not worked on; it is due again')
  else log.error(entry, 'work on a subscription failed; it is due again')
  try {
    const now = await subscriptionTime(database.db)
    const wait = isPassing(error) ? afterPassing : afterFailure
    await postponeSubscription(database.db, lease, new Date(now.getTime() + wait))
  } catch (second) {
    log.warn({ ...entry, err: second }, 'its lease is left to run out')
  }
}

/** Works on all that is due until nothing is; what becomes due meanwhile belongs to it. */
export async function runDueSubscriptions(
  context: MoneyContext,
  options: RunOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<{ readonly steps: number }> {
  const stepping = stepLanes(context, options)
  await workUntilNoneIsDue(stepping, options.signal)
  const synced = await runDueSyncs(context, options)
  return { steps: stepping.begun + synced.steps }
}

const repairEvery: Duration = minutes(1)

/**
 * Works on what is due for as long as the process runs; any number of processes may. Returns what
 * ends it, after the charges that are under way.
 */
export function startSubscriptions(
  context: MoneyContext,
  options: RunOptions = {},
): () => Promise<void> {
  const { log } = context.processing
  const stepping = startLanes(stepLanes(context, options), log)
  const stopping = new AbortController()
  const stopRepairs = repeat(repairEvery, log, async () => {
    await reportClocks(context)
    await closeForgottenPages(context, stopping.signal)
  })
  return async () => {
    stopping.abort()
    await Promise.all([stepping.stop(), stopRepairs()])
  }
}

/** Nothing is taken then, so nothing else would say why. */
async function reportClocks(context: MoneyContext): Promise<void> {
  const { database, log } = context.processing
  const reason = clockFault(await databaseNow(database.db), context)
  if (reason !== null) log.error({ reason }, 'no subscription is worked on until the clocks agree')
}
