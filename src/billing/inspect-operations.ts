import { z } from 'zod'
import { listRefusals } from '../database/refusals.ts'
import { listSchedules } from '../database/list-schedules.ts'
import { stuckKinds } from '../database/stuck-payments.ts'
import { dashboardUrlOf } from '../gateways/dashboard-url.ts'
import { requireGateway } from '../gateways/require.ts'
import { countRefusals } from '../inspect/count-refusals.ts'
import { failedKinds } from '../inspect/failed-groups.ts'
import { find } from '../inspect/find.ts'
import { readFailed, type FailedReportQuery } from '../inspect/failed.ts'
import { readGatewayFacts } from '../inspect/gateway-facts.ts'
import { overviewSpans, readOverview } from '../health/overview.ts'
import { scanCalls } from '../inspect/scan-calls.ts'
import { listStuck, type StuckQuery } from '../inspect/stuck.ts'
import { readTimeline } from '../inspect/timeline.ts'
import { readTotals, type TotalsQuery } from '../inspect/totals.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import { gatewaySetup } from './gateway-setup.ts'
import { handle, openedDatabase } from './handles.ts'
import type { InspectOperations, OverviewQuery, ShownSettings } from './inspect-types.ts'
import { checked, refusalsQuery, scanQuery } from './list-queries.ts'
import type { Runtime } from './runtime.ts'
import type { AnsweredRequest } from './types.ts'

/** `billing.inspect` */
export function inspectOperations(runtime: Runtime): InspectOperations {
  const { gateways, searchedMetadata, clock } = runtime.settings
  const names = () => gateways.list().map(({ gateway }) => gateway.name)
  const opened = (what: string) => handle(runtime, `billing.inspect.${what}`)
  return {
    find: async (text) =>
      find(await opened('find'), text, { gateways: names(), searchedMetadata, now: clock() }),
    callsWith: async (query) =>
      scanCalls(await opened('callsWith'), checked(scanQuery, query), {
        now: clock(),
        ticks: () => performance.now(),
      }),
    timeline: async (paymentId) => readTimeline(await opened('timeline'), paymentId),
    overview: async (query = {}) => {
      refuseInsideListener('billing.inspect.overview')
      const { span = '24h' } = checked(overviewQuery, query)
      const { database } = await runtime.opened()
      return readOverview(database, { span, gateways: names() })
    },
    stuck: async (query) => listStuck(await opened('stuck'), checked(stuckQuery, query), names()),
    failed: async (query = {}) =>
      readFailed(
        await openedDatabase(runtime, 'billing.inspect.failed'),
        checked(failedReportQuery, query),
      ),
    gateways: async () => readGatewayFacts(await opened('gateways'), names()),
    gateway: async (name) => {
      const db = await opened('gateway')
      const found = gateways.find(name)
      if (found === undefined) return undefined
      const [facts] = await readGatewayFacts(db, [found.gateway.name])
      return facts
    },
    settings: () => settingsOf(runtime),
    dashboardUrl: (payment) => dashboardUrlOf(gateways, payment),
    gatewaySetup: (name) => gatewaySetup(requireGateway(gateways, name)),
    refusals: async (query = {}) => {
      const { gateway } = checked(refusalsQuery, query)
      const db = await opened('refusals')
      const counts = await countRefusals(db, gateway)
      return { counts, samples: await listRefusals(db, gateway) }
    },
    totals: async (query) => readTotals(await opened('totals'), checked(totalsQuery, query)),
    schedules: async () => listSchedules(await opened('schedules')),
  }
}

function settingsOf({ settings }: Runtime): ShownSettings {
  const { production, queueConnection, retentionDays, shown, warnings } = settings
  return {
    production,
    database: settings.database.url === undefined ? 'embedded' : 'postgres',
    queueConnection,
    retentionDays,
    settings: shown,
    warnings,
  }
}

/** Answers that have one meaning each. */
const reasons = new Map([
  [404, 'unknown_gateway'],
  [413, 'too_large'],
  [415, 'encoding'],
])

/** Keeps what a callback looked like that was answered before it came to the pipeline. */
export function sampleAnswered(
  { samples, settings }: Runtime,
  { name, status }: { readonly name: string; readonly status: number },
  request: AnsweredRequest,
): void {
  const gateway = settings.gateways.find(name)?.gateway
  const isMisspelt = status === 404 && gateway !== undefined
  const reason = isMisspelt ? 'wrong_address' : reasons.get(status)
  if (reason !== undefined) samples.add({ gateway, name, reason }, request)
}

type RulesOf<Query> = Readonly<Record<keyof Query, z.ZodType>>

const oneOf = <const Value extends string>(values: readonly Value[]) =>
  z.enum(values, `must be one of ${values.join(', ')}`)

const overviewQuery = z.object({
  span: oneOf(overviewSpans).optional(),
} satisfies RulesOf<OverviewQuery>)

const stuckQuery = z.object({
  stuck: oneOf(stuckKinds),
  limit: z.unknown().optional(),
  cursor: z.unknown().optional(),
} satisfies RulesOf<StuckQuery>)

const failedReportQuery = z.object({
  kind: oneOf(failedKinds).optional(),
} satisfies RulesOf<FailedReportQuery>)

const totalsQuery = z.object({
  from: z.string('must be a day such as 2026-11-26'),
  to: z.string('must be a day such as 2026-11-26'),
} satisfies RulesOf<TotalsQuery>)
