import type { BillingCore } from '../billing/types.ts'
import { countWorkers } from '../database/workers.ts'
import type { WebhookCall } from '../events/webhook-call.ts'
import type { Gateway, SignedCallback } from '../gateways/gateway.ts'
import { requireConfigured, requireGateway } from '../gateways/require.ts'
import { scenarioOf, signCallback, signerOf } from '../gateways/sign-callback.ts'
import { systemClock } from '../kernel/clock.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import { isLoopback } from '../kernel/local-host.ts'
import type { Secret } from '../kernel/secret.ts'
import { askService } from './ask-service.ts'
import { describeError, rootOf } from './describe-error.ts'
import { faultOf, followCall, markHeader } from './follow-call.ts'
import { withCore } from './open-core.ts'
import { paymentToSend, type Stated } from './payment-to-send.ts'

const answerTimeoutMs = 30_000

export interface SendOptions extends Stated {
  readonly scenario?: string
  readonly url?: string
  readonly list?: boolean
  readonly yes?: boolean
  /** False with `--no-wait`. */
  readonly wait: boolean
  readonly json?: boolean
}

/** What was sent, what was answered, and what became of it. */
export interface SentCallback {
  readonly url: string
  readonly scenario: string
  readonly paymentId: string
  readonly status: number
  readonly answer: string
  /** The stored call; undefined if none was found, or nobody looked. */
  readonly call: WebhookCall | undefined
  /** What did not go as the scenario means it. */
  readonly fault: QuittanceError | undefined
}

/**
 * Signs a callback as the provider would, posts it where the provider would, and waits until it is
 * processed.
 */
export function sendCallback(nameOrAlias: string, options: SendOptions): Promise<SentCallback> {
  return withCore(async (core, { configuration, serviceUrl, runtime, warnAbout }) => {
    requireConsent(configuration.options.production, options.yes === true)
    const registered = requireGateway(runtime.settings.gateways, nameOrAlias)
    const { gateway } = registered
    const name = scenarioOf(gateway, options.scenario)
    const scenario = signerOf(gateway).scenarios[name] ?? { shows: name, means: 'looked up' }
    requireConfigured(registered)
    warnAbout(gateway.name)
    const url = targetOf(core, { gateway, serviceUrl, given: options.url })
    const payment = await paymentToSend(core, { gateway, scenario, asked: options })
    await requireSameDatabase(url, await runtime.databaseKey())
    const now = systemClock()
    const callback = signCallback(registered, { scenario: name, payment, now, newId: newUuid })
    const mark = newUuid()
    const answered = await post(url, callback, mark)
    const sent = { url, scenario: name, paymentId: payment.id, ...answered, call: undefined }
    if (answered.status >= 300) return { ...sent, fault: refused(answered.status) }
    if (!options.wait) return { ...sent, fault: undefined }
    const call = await followCall(core, { gateway: gateway.name, mark })
    const workers = await countWorkers((await runtime.opened()).database.db)
    return { ...sent, call, fault: faultOf({ call, scenario, workers }) }
  })
}

const fixes: Readonly<Record<number, string>> = {
  403: 'Give the service and this command the same secrets; the service’s log says what it missed.',
  404: 'Correct --url, APP_URL or BILLING_WEBHOOK_PATH: no route of Quittance is there.',
  405: 'Correct --url: it must be the callback URL that `quittance gateways` shows.',
  422: 'The answer names the field. Give the service and this command the same version; let no middleware or proxy change the body.',
  502: 'Start the service behind the proxy or tunnel.',
  503: 'Run `quittance doctor`: the service has no database, or too much to do.',
}

function refused(status: number): QuittanceError {
  const fix = fixes[status]
  return new QuittanceError('send_refused', `not accepted: ${status}`, {
    ...(fix !== undefined && { fix }),
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
  const origins = serviceUrl === undefined ? [core.origin] : [core.origin, serviceUrl]
  const target = sendTarget(given ?? serviceUrl ?? own, origins)
  return callbackAt(target, new URL(own).pathname)
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

async function post(
  url: string,
  { headers, body }: SignedCallback,
  mark: string,
): Promise<{ status: number; answer: string }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, [markHeader]: mark },
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

/**
 * Where a signed callback may go: to this machine or to our own origin. Anybody else could pass it
 * on to the service, which accepts the signature for some minutes. The host as written decides:
 * what a name resolves to may change between a look-up and the request. Errors: `send_url_foreign`,
 * `usage`.
 */
export function sendTarget(url: string, ownOrigins: readonly string[]): string {
  const target = URL.parse(url)
  if (target === null || !/^https?:$/.test(target.protocol)) {
    throw new QuittanceError('usage', '--url must begin with http:// or https://')
  }
  if (ownOrigins.includes(target.origin) || isLoopback(target.hostname)) return target.href
  throw new QuittanceError(
    'send_url_foreign',
    `${target.origin} is neither this machine nor ${ownOrigins.join(' nor ')}; a signed callback stays with us`,
  )
}

/** An origin alone is no callback URL, so it stands for the one that is there. */
export function callbackAt(target: string, callbackPath: string): string {
  const { origin } = new URL(target)
  return target === `${origin}/` ? origin + callbackPath : target
}

/** A sent callback settles payments as the provider's would. Error: `send_in_production`. */
export function requireConsent(production: boolean, yes: boolean): void {
  if (!production || yes) return
  throw new QuittanceError(
    'send_in_production',
    'under NODE_ENV=production this settles a real payment, whether anybody has paid it or not',
  )
}
