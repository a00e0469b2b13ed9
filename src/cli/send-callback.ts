import type { BillingCore } from '../billing/types.ts'
import { builtin } from '../gateways/builtin.ts'
import { readCredentials } from '../gateways/credentials.ts'
import type { Gateway, Signer, SignInput } from '../gateways/gateway.ts'
import { systemClock } from '../kernel/clock.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { isUuid, newUuid } from '../kernel/ids.ts'
import type { SendOptions } from './commands/send.ts'
import type { Settings } from './env.ts'
import { knownGateway } from './gateway-query.ts'
import { withCore } from './open-core.ts'

const answerTimeoutMs = 30_000

/** A declined payment can still be paid: sending a failure and then a success needs no id. */
const unpaid = ['pending', 'failed', 'canceled'] as const

export interface SentCallback {
  readonly url: string
  readonly scenario: string
  readonly payment_id: string
  readonly status: number
  readonly answer: string
}

export function listScenarios(nameOrAlias: string): Promise<Readonly<Record<string, string>>> {
  return withCore(
    (core, settings) => Promise.resolve(signerOf(gatewayOf(core, settings, nameOrAlias)).scenarios),
    { start: false },
  )
}

/** Signs a callback as the provider would and posts it where the provider would. */
export function sendCallback(nameOrAlias: string, options: SendOptions): Promise<SentCallback> {
  return withCore(async (core, settings) => {
    const gateway = gatewayOf(core, settings, nameOrAlias)
    const signer = signerOf(gateway)
    const scenario = options.scenario ?? Object.keys(signer.scenarios)[0] ?? ''
    if (!Object.hasOwn(signer.scenarios, scenario)) {
      const known = Object.keys(signer.scenarios).join(', ')
      throw new QuittanceError('usage', `--scenario must be one of ${known}, got ${scenario}`)
    }
    if (core.gateways()[gateway.name]?.configured !== true) {
      throw new QuittanceError('gateway_not_configured', `${gateway.name} has no credentials`)
    }
    const payment = await paymentFor(core, gateway, options)
    const { environment = {}, gateways, production } = settings.options
    const config = gateways?.[gateway.name]
    const callback = signer.sign({
      scenario,
      payment,
      credentials: readCredentials(gateway, environment, {
        production,
        ...(config !== undefined && { config }),
      }),
      now: systemClock(),
      newId: newUuid,
    })
    const url = options.url ?? core.url('billing.webhook', { gateway: gateway.name })
    const answer = await post(url, callback)
    return { url, scenario, payment_id: payment.id, ...answer }
  })
}

function gatewayOf(core: BillingCore, settings: Settings, nameOrAlias: string): Gateway {
  const name = knownGateway(core, nameOrAlias)
  const all = [...builtin, ...(settings.options.extraGateways ?? [])]
  const gateway = all.find((candidate) => candidate.name === name)
  if (gateway !== undefined) return gateway
  throw new QuittanceError('gateway_unknown', `there is no gateway ${JSON.stringify(nameOrAlias)}`)
}

function signerOf(gateway: Gateway): Signer {
  if (gateway.signer !== undefined) return gateway.signer
  throw new QuittanceError('gateway_cannot_sign', `${gateway.name} cannot sign test callbacks`)
}

/** What the callback states: the stored payment, with the amount and currency asked for. */
async function paymentFor(
  core: BillingCore,
  gateway: Gateway,
  { payment: id, amount, currency }: SendOptions,
): Promise<SignInput['payment']> {
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
  return {
    id,
    amount,
    currency,
    checkoutReference: null,
    providerReference: null,
    merchantAccount: null,
    live: null,
  }
}

async function storedPayment(core: BillingCore, gateway: Gateway, id: string | undefined) {
  if (id !== undefined) return isUuid(id) ? core.payments.get(id) : undefined
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
      redirect: 'manual',
      signal: AbortSignal.timeout(answerTimeoutMs),
    })
    return { status: response.status, answer: await response.text() }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new QuittanceError('service_unreachable', `no answer from ${url}: ${reasonOf(cause)}`, {
      cause: error,
    })
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) {
    return error.errors[0].message
  }
  return error instanceof Error ? error.message : String(error)
}
