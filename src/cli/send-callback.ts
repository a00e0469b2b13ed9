import type { BillingCore } from '../billing/types.ts'
import type { Gateway } from '../gateways/gateway.ts'
import { requireConfigured, requireGateway } from '../gateways/require.ts'
import { scenarioOf, signCallback, type SignedPayment } from '../gateways/sign-callback.ts'
import { systemClock } from '../kernel/clock.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import type { Secret } from '../kernel/secret.ts'
import type { SendOptions } from './commands/send.ts'
import { askService } from './ask-service.ts'
import { describeError, rootOf } from './describe-error.ts'
import { withCore } from './open-core.ts'
import { requireConsent, sendTarget } from './send-target.ts'

const answerTimeoutMs = 30_000

/** A declined payment can still be paid, so sending a failure and then a success needs no id. */
const unpaid = ['pending', 'failed', 'canceled'] as const

export interface SentCallback {
  readonly url: string
  readonly scenario: string
  readonly payment_id: string
  readonly status: number
  readonly answer: string
}

/** Signs a callback as the provider would and posts it where the provider would. */
export function sendCallback(nameOrAlias: string, options: SendOptions): Promise<SentCallback> {
  return withCore(async (core, { configuration, serviceUrl, runtime, warnAbout }) => {
    requireConsent(configuration.options.production, options.yes === true)
    const registered = requireGateway(runtime.settings.gateways, nameOrAlias)
    const { gateway } = registered
    const scenario = scenarioOf(gateway, options.scenario)
    requireConfigured(registered)
    warnAbout(gateway.name)
    const url = targetOf(core, { gateway, serviceUrl, given: options.url })
    const payment = await paymentFor(core, gateway, options)
    await requireSameDatabase(url, await runtime.databaseKey())
    const now = systemClock()
    const callback = signCallback(registered, { scenario, payment, now, newId: newUuid })
    const answer = await post(url, callback)
    return { url, scenario, payment_id: payment.id, ...answer }
  })
}

interface Target {
  readonly gateway: Gateway
  readonly serviceUrl: string | undefined
  readonly given: string | undefined
}

/** The gateway's callback URL; at the service itself, if it is known where that is. */
function targetOf(core: BillingCore, { gateway, serviceUrl, given }: Target): string {
  const own = core.url('billing.webhook', { gateway: gateway.name })
  if (serviceUrl === undefined) return sendTarget(given ?? own, [core.origin])
  return sendTarget(given ?? serviceUrl + new URL(own).pathname, [core.origin, serviceUrl])
}

/** Errors: `service_other_database`. */
async function requireSameDatabase(url: string, key: Secret): Promise<void> {
  const { origin } = new URL(url)
  if ((await askService(origin, key)) !== 'other') return
  throw new QuittanceError(
    'service_other_database',
    `the service at ${origin} works on another database than this command`,
  )
}

/** What the callback states: the stored payment, with the amount and currency given. */
async function paymentFor(
  core: BillingCore,
  gateway: Gateway,
  { payment: id, amount, currency }: SendOptions,
): Promise<SignedPayment> {
  const stored = await storedPayment(core, gateway, id)
  if (stored !== undefined) {
    return { ...stored, amount: amount ?? stored.amount, currency: currency ?? stored.currency }
  }
  if (id === undefined || amount === undefined || currency === undefined) {
    throw new QuittanceError(
      'payment_not_found',
      id === undefined
        ? `${gateway.name} has no payment that can still be paid`
        : `there is no payment ${JSON.stringify(id)}`,
      {
        fix: 'Create one with `quittance payments create`, or give --payment, --amount and --currency.',
      },
    )
  }
  return { id, amount, currency }
}

async function storedPayment(core: BillingCore, gateway: Gateway, id: string | undefined) {
  if (id !== undefined) return core.payments.get(id)
  const pages = await Promise.all(
    unpaid.map((status) => core.payments.list({ gateway: gateway.name, status, limit: 1 })),
  )
  const newest = pages.flatMap(({ data }) => data)
  return newest.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())[0]
}

async function post(
  url: string,
  { headers, body }: { headers: Readonly<Record<string, string>>; body: string },
): Promise<{ status: number; answer: string }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      // A redirect may lead anywhere.
      redirect: 'manual',
      signal: AbortSignal.timeout(answerTimeoutMs),
    })
    return { status: response.status, answer: await response.text() }
  } catch (error) {
    const reason = describeError(rootOf(error))
    throw new QuittanceError('service_unreachable', `no answer from ${url}: ${reason}`, {
      cause: error,
    })
  }
}
