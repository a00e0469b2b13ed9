import type { BillingCore } from './types.ts'
import { migrate } from '../database/migrate.ts'
import { scrubbing } from '../kernel/secret.ts'
import { tally } from '../kernel/tally.ts'
import { receive, type IncomingCall, type Intake } from '../intake/receive.ts'
import { unavailable, type Answer } from '../intake/responses.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import { readListener } from '../listeners/read-listener.ts'
import { backfill } from '../upkeep/backfill.ts'
import { readReadiness } from '../health/readiness.ts'
import { prune, type PruneResult } from '../upkeep/prune.ts'
import { reconcile } from '../upkeep/reconcile.ts'
import { callOperations } from './call-operations.ts'
import { describeGateways, webhookUrl } from './describe-gateways.ts'
import { eventOperations } from './event-operations.ts'
import { gatewayPages } from './gateway-pages.ts'
import { endpointOperations } from './endpoint-operations.ts'
import { entitled } from './handles.ts'
import { inspectOperations, sampleAnswered } from './inspect-operations.ts'
import { invoiceOperations } from './invoice-operations.ts'
import { listenerOperations } from './listener-operations.ts'
import { operatorOperations } from './operator-operations.ts'
import type { BillingOptions } from './options.ts'
import { paymentOperations } from './payment-operations.ts'
import { paymentMethodOperations } from './payment-method-operations.ts'
import { refundOperations } from './refund-operations.ts'
import { registrationOperations } from './registration-operations.ts'
import { reviewOperations } from './review-operations.ts'
import { runOperations } from './run-operations.ts'
import { createRuntime, runtimeForPeople, type Runtime, type Stage } from './runtime.ts'
import { subscriptionOperations } from './subscription-operations.ts'
import { usageOperations } from './usage-operations.ts'

/**
 * Wires the service: nothing is opened before `start()` or the first use. Errors of the settings
 * are thrown here, those of the database by `start()`.
 */
export function createCore(options: BillingOptions = {}, stage?: Stage): BillingCore {
  return coreOf(createRuntime(options, stage))
}

/** The public operations over a runtime. */
export function coreOf(runtime: Runtime): BillingCore {
  const { settings } = runtime
  const close = () => runtime.close()
  return lend(runtime, {
    start: async () => {
      await runtime.opened()
    },
    receive: (call) => receiveWhenOpen(runtime, call),
    answered: (gateway, status, request) => {
      runtime.answers.answered(gateway, status)
      if (request !== undefined) sampleAnswered(runtime, { name: gateway, status }, request)
    },
    gateways: () => describeGateways(settings),
    gatewayName: (name) => settings.gateways.find(name)?.gateway.name,
    maxBodyBytes: (name) => settings.gateways.find(name)?.gateway.maxBodyBytes,
    url: (_route, { gateway }) => webhookUrl(settings, gateway),
    webhookPaths: settings.webhookPaths,
    origin: settings.origin,
    brand: settings.brand,
    pages: gatewayPages(settings.gateways),
    on: (on: unknown, name: unknown, ...[run, options = {}]: readonly [unknown, object?]) =>
      runtime.addListener(readListener(name, { on, run, options })),
    payments: paymentOperations(runtime),
    refunds: refundOperations(runtime),
    paymentMethods: paymentMethodOperations(runtime),
    subscriptions: subscriptionOperations(runtime),
    usage: usageOperations(runtime),
    invoices: invoiceOperations(runtime),
    calls: callOperations(runtime),
    reviews: reviewOperations(runtime),
    runs: runOperations(runtime),
    events: eventOperations(runtime),
    endpoints: endpointOperations(runtime),
    operators: operatorOperations(runtime),
    inspect: inspectOperations(runtime),
    listeners: listenerOperations(runtime),
    registration: registrationOperations(runtime),
    migrate: async () => {
      refuseInsideListener('billing.migrate')
      return migrate((await runtime.connected()).database, { log: runtime.settings.log })
    },
    work: (workOptions = {}) => runtime.work(workOptions),
    prune: (onProgress) => pruneNow(runtime, onProgress),
    backfill: async (backfillOptions) => {
      const context = await entitled(runtime, 'billing.backfill')
      return backfill(backfillOptions, context, await runtime.intake())
    },
    reconcile: async (reconcileOptions = {}) =>
      reconcile(await entitled(runtime, 'billing.reconcile'), reconcileOptions),
    metrics: async () => {
      const registry = await runtime.metrics.get()
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
    readiness: readinessOf(runtime),
    forPeople: () => coreForPeople(runtime),
    [scrubbing]: settings.scrub,
    close,
    [Symbol.asyncDispose]: close,
  })
}

/** Queued listeners get the first that is made, not one for people. */
function lend({ listeners }: Runtime, core: BillingCore): BillingCore {
  listeners.billing ??= core
  return core
}

/** Whether callbacks are taken has nothing to do with the connections of those who look. */
function coreForPeople(runtime: Runtime): BillingCore {
  const { start, prune, readiness } = coreOf(runtime)
  const core = coreOf(runtimeForPeople(runtime))
  const forPeople = () => coreForPeople(runtime)
  return { ...core, start, prune, readiness, forPeople }
}

async function pruneNow(
  runtime: Runtime,
  onProgress: Parameters<BillingCore['prune']>[0],
): Promise<PruneResult> {
  refuseInsideListener('billing.prune')
  const { database } = await runtime.opened()
  const { retentionDays, keepKeysDays, log, forward } = runtime.settings
  return prune(database, {
    retentionDays,
    keepKeysDays,
    keepAttemptsDays: forward.keepAttemptsDays,
    log,
    ...(onProgress && { onProgress }),
  })
}

/** A database that cannot be opened counts as down: the gateway must redeliver. */
async function receiveWhenOpen(runtime: Runtime, call: IncomingCall): Promise<Answer> {
  refuseInsideListener('billing.receive')
  const begun = performance.now()
  let intake: Intake
  try {
    intake = await runtime.intake()
  } catch (error) {
    const { requestId } = call
    runtime.settings.log.error(
      { err: error, requestId },
      'callback refused: the database is not open',
    )
    runtime.answers.answered(call.gateway, unavailable.status)
    return unavailable
  }
  const answer = await receive(call, intake)
  const seconds = (performance.now() - begun) / 1000
  intake.counts.received(call.gateway, { status: answer.status, seconds })
  return answer
}

/** Why the database does not answer is for operators: others may read the problems. */
function readinessOf(runtime: Runtime): BillingCore['readiness'] {
  const { log, gateways } = runtime.settings
  // Anybody may ask, as often as they like.
  const failed = tally(({ count }) => log.error({ checks: count }, 'the readiness check failed'))
  return async () => {
    try {
      const { database } = await runtime.opened()
      const names = gateways.list().map(({ gateway }) => gateway.name)
      return await readReadiness(database, names)
    } catch (error) {
      failed.add('', () => log.error({ err: error }, 'the readiness check failed'))
      const problems = ['the database does not answer: see the log']
      return { ready: false, problems, warnings: [], pendingCalls: 0, oldestPendingSeconds: 0 }
    }
  }
}
