import type { FailedGroup, FailedKind } from '../inspect/failed-groups.ts'
import { fact, type Fact, type Look } from './fact.ts'
import {
  endpoints,
  failedCalls,
  failedForwards,
  failedQueued,
  newestFailed,
  queuedWork,
  schedules,
  sumOfWaiting,
  takenWithin,
  unnumberedEvents,
  waitingCalls,
  workers,
} from './sources.ts'

const runsWork = 'Keep a service or a worker running: quittance serve, or quittance work'
const waitingPage = ['/calls?state=pending', 'calls'] as const
const endpointsPage = ['/endpoints', 'endpoints'] as const

const callsWait = fact({
  kind: 'calls_wait',
  async find(look) {
    const waiting = await look.ask(waitingCalls)
    const known = waiting.filter(({ gateway }) => look.gateways.includes(gateway))
    const { oldestSeconds } = sumOfWaiting(known)
    return [{ pending: sumOfWaiting(waiting).pending, oldestSeconds }]
  },
  value: 'oldestSeconds',
  severity: { warning: 60, error: 300 },
  says: ({ oldestSeconds }) => `a call has been waiting for ${oldestSeconds}: is a worker running?`,
  more: ({ pending }) => [`${pending} pending`],
  fix: () => 'Start a worker, or more of them: quittance work. Or a listener is slow.',
  check: 'queue',
  well: ([found]) => `${found?.pending ?? 0} pending`,
  page: () => waitingPage,
  isReadiness: true,
  alerts: [
    {
      name: 'QuittanceCallsWait',
      severity: 'warning',
      metric: 'oldest_pending_seconds',
      for: '1m',
      docs: '5-operations.md#scaling',
    },
    {
      name: 'QuittanceCallsStuck',
      severity: 'error',
      metric: 'oldest_pending_seconds',
      for: '1m',
      docs: '5-operations.md#is-it-healthy',
    },
  ],
})

const noWorker = fact({
  kind: 'no_worker',
  async find(look) {
    const { pending: pendingCalls, oldestSeconds } = sumOfWaiting(await look.ask(waitingCalls))
    const { pending: pendingDeliveries, isLate } = await look.ask(queuedWork)
    const waits = isLate || oldestSeconds > takenWithin / 1_000
    return waits && (await look.ask(workers)) === 0 ? [{ pendingCalls, pendingDeliveries }] : []
  },
  severity: 'error',
  says: () => 'no worker is running',
  more: (of) => [`${of.pendingCalls} calls and ${of.pendingDeliveries} deliveries wait`],
  fix: () => 'Start one: quittance work, or quittance serve',
  check: null,
  well: () => '',
  page: () => waitingPage,
})

const callsOfUnknownGateway = fact({
  kind: 'gateway_unknown',
  find: async ({ ask, gateways }) =>
    (await ask(waitingCalls)).filter(({ gateway }) => !gateways.includes(gateway)),
  value: 'oldestSeconds',
  severity: { warning: 60, error: 300 },
  says: ({ gateway }) => `calls of ${gateway} are waiting: no gateway of this name is known here`,
  more: ({ count, oldestSeconds }) => [`${count} pending`, `the oldest for ${oldestSeconds}`],
  fix: () => 'Configure it here as well, until they are done. A service that knows it takes them.',
  check: 'left_over',
  well: () => 'no call waits for a gateway that is not known here',
  page: () => waitingPage,
  isReadiness: true,
})

interface FailedWork {
  readonly what: FailedKind
  readonly check: string
  /** As the subject of a sentence. */
  readonly name: string
  readonly fix: string
  count(look: Look): Promise<number>
  readonly alerts?: Fact['alerts'] & object
}

const failed = ({ what, count, check, name, fix, alerts = [] }: FailedWork) =>
  fact({
    kind: 'failed',
    async find(look) {
      const all = await count(look)
      const newest = all === 0 ? [] : await look.ask(newestFailed)
      const own = newest.filter(({ kind }) => kind === what)
      return [{ what, count: all, newestAt: own[0]?.newestAt ?? null, mostly: mostlyOf(own) }]
    },
    value: 'count',
    severity: { warning: 0 },
    says: (of) => `${name} that failed for good: ${of.count}`,
    more: ({ newestAt, mostly }) => [
      newestAt && `the newest ${newestAt} ago`,
      mostly && `mostly at ${mostly}`,
    ],
    fix: () => fix,
    check,
    well: () => `no ${name} failed for good`,
    page: () => [`/failed?kind=${what}`, 'failed'],
    alerts,
  })

/** The listener, or the endpoint, that more than half of these failed at. */
export function mostlyOf(groups: readonly FailedGroup[]): string | null {
  const names = new Map<string, number>()
  const all = groups.reduce((sum, { count }) => sum + count, 0)
  for (const group of groups) {
    const name = group.kind === 'forward' ? group.endpoint : group.listener
    if (name !== null) names.set(name, (names.get(name) ?? 0) + group.count)
  }
  return [...names].find(([, count]) => count > all / 2)?.[0] ?? null
}

const fixListener = 'Fix the listener, then run: quittance calls replay --failed'
const failedDocs = '5-operations.md#failed-calls'

const failedWork = [
  failed({
    what: 'call',
    count: ({ ask }) => ask(failedCalls),
    check: 'failed_calls',
    name: 'calls',
    fix: 'Find out why: quittance calls list --state failed. Mend it, then run: quittance calls replay --failed',
    alerts: [
      {
        name: 'QuittanceCallsFailed',
        metric: 'calls{state="failed"}',
        for: '5m',
        docs: failedDocs,
      },
    ],
  }),
  failed({
    what: 'delivery',
    count: async ({ ask }) => (await ask(failedQueued)).deliveries,
    check: 'deliveries',
    name: 'deliveries to listeners',
    fix: fixListener,
    alerts: [
      {
        name: 'QuittanceDeliveriesFailed',
        metric: 'deliveries{state="failed"}',
        for: '5m',
        note: 'Deferred events count, too.',
        docs: failedDocs,
      },
    ],
  }),
  failed({
    what: 'deferred_event',
    count: async ({ ask }) => (await ask(failedQueued)).deferredEvents,
    check: 'deliveries',
    name: 'deferred events',
    fix: fixListener,
  }),
  failed({
    what: 'forward',
    count: ({ ask }) => ask(failedForwards),
    check: 'endpoints',
    name: 'events to endpoints',
    fix: 'Find out why: quittance endpoints attempts NAME. Then run: quittance endpoints resend NAME EVENT',
  }),
] as const

const scheduleOverdue = fact({
  kind: 'schedule_overdue',
  find: ({ ask }) => ask(schedules),
  value: 'overdueSeconds',
  severity: { warning: 3_600 },
  says: ({ schedule, overdueSeconds }) =>
    `the schedule ${schedule} has been due for ${overdueSeconds}`,
  fix: () => `${runsWork}. They run what is due.`,
  check: 'schedules',
  well: () => 'none is overdue',
  page: () => ['/settings', 'settings'],
  gauge: {
    name: 'schedule_overdue_seconds',
    help: 'How long a schedule has been due without running.',
    labels: { name: 'schedule' },
  },
  alerts: [{ name: 'QuittanceScheduleOverdue', for: '5m', docs: '5-operations.md#is-it-healthy' }],
})

/** The command that does what a schedule does, if it has another name. */
const byHand: Readonly<Record<string, string>> = { repair: 'reconcile' }

const scheduleFailed = fact({
  kind: 'schedule_failed',
  find: async ({ ask }) => (await ask(schedules)).filter(({ error }) => error !== null),
  severity: 'warning',
  says: ({ schedule }) => `the last run of the schedule ${schedule} failed`,
  more: ({ error }) => [error],
  fix: ({ schedule }) =>
    `It is tried again by itself; by hand: quittance ${byHand[schedule] ?? schedule}`,
  check: 'schedules',
  well: () => 'none failed',
  page: () => ['/settings', 'settings'],
})

const eventsUnnumbered = fact({
  kind: 'events_unnumbered',
  find: ({ ask }) => ask(unnumberedEvents),
  value: 'count',
  severity: { warning: 0 },
  says: ({ count }) => `events without a place in the feed for over a minute: ${count}`,
  fix: () => runsWork,
  check: 'feed',
  well: () => 'every event has its place',
  page: () => ['/events', 'events'],
})

const endpointDisabled = fact({
  kind: 'endpoint_disabled',
  find: async ({ ask }) => (await ask(endpoints)).filter(({ reason }) => reason !== null),
  severity: 'warning',
  says: ({ endpoint }) => `nothing is sent to the endpoint ${endpoint}`,
  more: ({ reason, since, behind }) => [
    `disabled for ${since} (${reason})`,
    `${behind} events behind`,
  ],
  fix: ({ endpoint }) => `Once it is well: quittance endpoints enable ${endpoint}`,
  check: 'endpoints',
  well: () => 'none is disabled for its answers',
  page: () => endpointsPage,
  alerts: [
    {
      name: 'QuittanceEndpointGone',
      // A disabled endpoint has no gauge; while the database is away, none has.
      expr: `max by (job, endpoint) (max_over_time(quittance_endpoint_behind[1d]))
unless max by (job, endpoint) (quittance_endpoint_behind)
and on (job) max by (job) (quittance_database_up) == 1`,
      for: '5m',
      note: 'This fires for a deleted endpoint, too, and ends a day later.',
      docs: '18-webhooks-out.md#4-what-is-tried-again',
    },
  ],
})

const enabledEndpoints = async ({ ask }: Look) =>
  (await ask(endpoints)).filter(({ isEnabled }) => isEnabled)

const endpointFails = fact({
  kind: 'endpoint_fails',
  find: enabledEndpoints,
  value: 'failures',
  severity: { warning: 0 },
  says: ({ endpoint }) => `no event reaches the endpoint ${endpoint}`,
  more: ({ failures, behind }) => [`failures in a row: ${failures}`, `${behind} events behind`],
  fix: ({ endpoint }) =>
    `Look at what it answers: quittance endpoints attempts ${endpoint}. After five days of failures it is disabled.`,
  check: 'endpoints',
  well: () => 'none fails',
  page: () => endpointsPage,
  alerts: [
    {
      name: 'QuittanceEndpointStuck',
      // `resets` counts how often it has fallen: never, so nothing was sent on.
      expr: `max by (job, endpoint) (min_over_time(quittance_endpoint_behind[15m])) > 0
and max by (job, endpoint) (resets(quittance_endpoint_behind[15m])) == 0`,
      for: '5m',
      docs: '18-webhooks-out.md#4-what-is-tried-again',
    },
  ],
})

/** An endpoint soon deals with so many events, if it takes them. */
const farBehind = 1_000

const endpointBehind = fact({
  kind: 'endpoint_behind',
  find: enabledEndpoints,
  value: 'behind',
  severity: { warning: farBehind },
  says: ({ endpoint, behind }) => `the endpoint ${endpoint} is ${behind} events behind`,
  fix: ({ endpoint }) =>
    `Its receiver should answer at once, and work afterwards. How long it takes: quittance endpoints attempts ${endpoint}`,
  check: 'endpoints',
  well: () => 'none is far behind',
  page: () => endpointsPage,
  gauge: {
    name: 'endpoint_behind',
    help: 'Events that an endpoint has not been sent yet.',
    labels: { endpoint: 'endpoint' },
  },
  alerts: [
    {
      name: 'QuittanceEndpointBehind',
      // It gets some, but fewer than there are.
      expr: `max by (job, endpoint) (quittance_endpoint_behind) > ${farBehind}
and max by (job, endpoint) (deriv(quittance_endpoint_behind[30m])) > 0`,
      for: '30m',
      docs: '18-webhooks-out.md#3-order-and-duplicates',
    },
  ],
})

const forwardsLate = fact({
  kind: 'forwards_late',
  find: enabledEndpoints,
  value: 'late',
  severity: { warning: 0 },
  says: ({ endpoint, late }) => `events for ${endpoint} due again for over 10 minutes: ${late}`,
  fix: () => runsWork,
  check: 'endpoints',
  well: () => 'none waits for an attempt',
  page: () => endpointsPage,
})

/** What waits, what failed, and what does not run. */
export const workFacts = [
  noWorker,
  callsWait,
  callsOfUnknownGateway,
  ...failedWork,
  scheduleOverdue,
  scheduleFailed,
  eventsUnnumbered,
  endpointDisabled,
  endpointFails,
  endpointBehind,
  forwardsLate,
] as const
