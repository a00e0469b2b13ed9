import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, order, origin } from '../http/service.ts'
import { providerEnvironment } from '../money/provider-environment.ts'
import { openWorld, type World } from '../openapi/world.ts'
import { startReceiver } from '../outbound/receiver.ts'
import { startPaddle } from '../providers/paddle.ts'
import { startStripe } from '../providers/stripe.ts'
import { postgres } from '../support/databases.ts'
import { statedCall } from '../support/stating-gateway.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { encryptionKey, listeners } from './config.ts'

/** A service with a row of every kind, and all that commands beside it need. */
export interface GoldenWorld extends AsyncDisposable {
  readonly core: World['service']['core']
  /** Where commands run. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** What the words of commands stand for: ids, and the URLs of the service and of an app. */
  readonly values: Readonly<Record<string, string>>
}

export async function openGoldenWorld(): Promise<GoldenWorld> {
  await using stack = new AsyncDisposableStack()
  const { url = '', drop } = await postgres.create()
  stack.defer(drop)
  const world = stack.use(
    await openWorld({ database: { url }, billing: { encryptionKey }, listeners }),
  )
  const folder = stack.use(temporaryFolder())
  const config = JSON.stringify(new URL('config.ts', import.meta.url).href)
  writeFileSync(join(folder.path, 'quittance.config.js'), `export { default } from ${config}\n`)
  const receiver = stack.use(
    await startReceiver((_received, response) => response.writeHead(204).end()),
  )
  const providers = [await startStripe(), await startPaddle()]
  for (const provider of providers) stack.defer(() => provider.close())
  const values = { ...(await fill(world)), app: receiver.url }
  const owned = stack.move()
  return {
    core: world.service.core,
    cwd: folder.path,
    env: {
      ...Object.assign({}, ...providers.map(providerEnvironment)),
      APP_URL: origin,
      BILLING_ENCRYPTION_KEY: encryptionKey,
      BILLING_RETURN_ORIGINS: 'https://shop.example',
      DATABASE_URL: url,
    },
    values,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** What the world of the API lacks: a dispute and a quota. Then all that is under way is done. */
async function fill({ service, ids, done }: World): Promise<Readonly<Record<string, string>>> {
  const { core, listening } = service
  const id = (name: string, at = 0) => ids[name]?.[at] ?? assert.fail(`there is no ${name} ${at}`)
  const paid = id('payment', 3)
  const dispute = { type: 'dispute', reference: 'dp_1', status: 'open', amount: 100n } as const
  await core.receive(
    statedCall([{ ...dispute, payment: { id: paid }, currency: order.currency }], 'scripted'),
  )
  await eventually(async () => (await core.payments.get(paid))?.disputes[0])
  const { subscription } = await core.subscriptions.create({
    gateway: 'scripted',
    payable: { type: 'account', id: '7' },
    amount: 0,
    currency: 'UAH',
    every: 'month',
    quotas: { calls: { limit: 10 } },
  })
  await eventually(async () => (await core.endpoints.attempts('one')).data[0])
  const invoice = await core.invoices.get(id('invoice'))
  return {
    service: listening.url,
    pending: id('payment'),
    settled: id('payment', 1),
    paid,
    refund: id('payment', 4),
    open: done['pollPayment']?.id ?? '',
    owed: done['cancelPayment']?.id ?? '',
    card: id('payment_method'),
    local: id('subscription'),
    managed: id('subscription', 1),
    metered: subscription.id,
    invoice: id('invoice'),
    month: invoice?.issuedAt.toISOString().slice(0, 7) ?? '',
    unpaid: done['voidInvoice']?.id ?? '',
    call: id('call'),
    review: id('review'),
    event: done['getEvent']?.id ?? '',
  }
}
