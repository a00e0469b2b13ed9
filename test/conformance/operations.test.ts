import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { OperationContext } from '../../src/gateways/interpret-context.ts'
import { providers } from '../money/providers.ts'
import { failureOf } from '../providers/kit.ts'
import type { ProviderStandIn } from '../providers/provider-stand-in.ts'
import { gatewayOf } from '../spec/callbacks.ts'
import {
  contextOf,
  isIn,
  opened,
  operations,
  paid,
  pollOf,
  togetherOf,
  type Changing,
} from './prepared.ts'

// Every gateway, every operation: whom it asks, and with which of the settings.

type Asked = Changing | 'poll' | 'poll together'
type Ask = (context: OperationContext) => Promise<unknown>

/** A provider as far as the operation needs it. */
async function prepare(provider: ProviderStandIn, operation: Asked): Promise<Ask> {
  if (operation === 'poll together') {
    const payment = await opened(provider)
    return async (context) => togetherOf(provider, [payment], context)
  }
  if (operation !== 'poll') return (await operations[operation](provider)).ask
  const payment = await paid(provider)
  return async (context) => pollOf(provider, payment, context)
}

/** The settings without which nobody can be asked. */
function neededOf({ apiCredential, credentials }: Gateway): readonly string[] {
  if (apiCredential !== undefined) return [apiCredential]
  const required = Object.entries(credentials).filter(([, { required }]) => required)
  return required.map(([field]) => field)
}

/** Settings that a payment is bound to: with other ones it belongs to somebody else. */
function accountsOf(gateway: Gateway): readonly string[] {
  return neededOf(gateway).filter((field) => gateway.credentials[field]?.secret !== true)
}

function changed({ gateway, config }: ProviderStandIn, field: string, value: string) {
  return contextOf({ gateway, config: { ...config, [field]: value } })
}

/** Those that tell a wrong secret from a right one. Of the others: their own tests. */
const discerning = new Set(['monobank', 'liqpay', 'wayforpay', 'hutko'])

for (const [name, start] of providers) {
  describe(name, () => {
    const gateway = gatewayOf(name)
    const changing = (Object.keys(operations) as Changing[]).filter(isIn(name))

    const polls = ['poll', ...(gateway.pollTogether ? (['poll together'] as const) : [])] as const

    for (const operation of [...changing, ...polls]) {
      test(`${name}: a ${operation} asks nobody without a setting that it needs, or for another account`, async () => {
        await using provider = await start()
        const ask = await prepare(provider, operation)
        const before = provider.asked.length
        const lacking = neededOf(gateway).map((field) => changed(provider, field, ''))
        const foreign = accountsOf(gateway).map((field) =>
          changed(provider, field, gateway.credentials[field]?.sample?.('other') ?? 'other_shop'),
        )
        assert.ok(lacking.length > 0)
        for (const context of [...lacking, ...foreign]) {
          assert.equal((await failureOf(ask(context))).code, 'gateway_not_configured')
        }
        assert.equal(provider.asked.length, before)
      })
    }

    if (!discerning.has(name)) return
    const isSecret = (field: string) => gateway.credentials[field]?.secret === true
    const secret = neededOf(gateway).find(isSecret) ?? ''

    // To close a checkout, some ask first how it stands; that moves no money.
    for (const operation of changing.filter((one) => one !== 'close')) {
      test(`${name}: while a secret is replaced, a ${operation} is asked for with the first one alone`, async () => {
        await using provider = await start()
        const ask = await prepare(provider, operation)
        const own = provider.config[secret] ?? ''
        const another = '2nd_secret_of_the_same_shop'
        const before = provider.asked.length
        const failure = await failureOf(ask(changed(provider, secret, `${another},${own}`)))
        assert.equal(failure.code, 'provider_refused')
        assert.equal(provider.asked.length, before + 1)
        provider.takeFaults()
        await ask(changed(provider, secret, `${own},${another}`))
        assert.equal(provider.asked.length, before + 2)
      })
    }
  })
}
