import { randomBytes } from 'node:crypto'
import { QuittanceError } from '../../src/kernel/errors.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { PaymentStatus } from '../../src/payments/payment.ts'
import { eventually, fakeCallback, order, startService, type Service } from '../http/service.ts'
import { refusal } from '../money/scripted.ts'
import { managingProvider } from '../subscriptions/managing-provider.ts'
import { takesMoney } from '../subscriptions/subscribing.ts'
import { state, statedCall, stating, type Statement } from '../support/stating-gateway.ts'

/** How the provider answers what it is asked. */
export const moods = ['does_it', 'refuses', 'is_silent', 'garbles'] as const
export type Mood = (typeof moods)[number]

export interface Example {
  readonly id?: string
  readonly body?: object
}

/** A service with a row of every kind, and a provider of any mood. */
export interface World extends AsyncDisposable {
  readonly service: Service
  /** Ids by what they are of. */
  readonly ids: Readonly<Record<string, readonly string[]>>
  /** For each route that needs more than what it requires: what it does something with. */
  readonly done: Readonly<Record<string, Example>>
  setMood(mood: Mood): void
}

/** What a service of the world is made with, and its provider. */
export function worldParts(moodNow: () => Mood = () => 'does_it') {
  const provider = managingProvider()
  const { script } = provider
  const own = { ...script }
  // Charges of saved cards; its checkouts stay those of a provider that manages subscriptions.
  takesMoney(script, { asked: [], debits: [] })
  Object.assign(script, own)
  script.refund = async () => ({ status: 'paid', reference: `re_${newUuid()}` })
  const billing: BillingOptions = {
    extraGateways: [stating, moody(provider.gateway, moodNow)],
    returnOrigins: ['https://shop.example'],
    plans: { pro: { amount: 19_900, currency: 'UAH', every: 'month', trial_days: 14 } },
    invoices: { seller: { name: 'A shop' } },
  }
  return { provider, billing }
}

export async function openWorld(options: BillingOptions = {}): Promise<World> {
  let mood: Mood = 'does_it'
  const { provider, billing } = worldParts(() => mood)
  const encryptionKey = randomBytes(32).toString('base64')
  const service = await startService({
    billing: { ...billing, billing: { encryptionKey }, ...options },
  })
  const end = () => service[Symbol.asyncDispose]()
  const setMood = (now: Mood) => {
    mood = now
  }
  try {
    return { service, ...(await fill(service, provider)), setMood, [Symbol.asyncDispose]: end }
  } catch (error) {
    await end()
    throw error
  }
}

type Provider = ReturnType<typeof managingProvider>

/** Every operation of a gateway, in the mood of the moment. */
function moody<T extends object>(part: T, moodNow: () => Mood): T {
  const entries = Object.entries(part).map(([name, value]: [string, unknown]) => {
    if (name === 'checkout' || name === 'subscriptions') {
      return [name, moody(value as object, moodNow)] as const
    }
    if (!operations.has(name) || typeof value !== 'function') return [name, value] as const
    const asked = value as (...asked: readonly unknown[]) => unknown
    return [
      name,
      async (...words: readonly unknown[]) => {
        refuseIf(moodNow())
        return asked(...words)
      },
    ] as const
  })
  return Object.fromEntries(entries) as T
}

const operations = new Set([
  'open',
  'poll',
  'refund',
  'chargeSavedCard',
  'closeCheckout',
  'removeSavedCard',
  'read',
  'cancel',
  'pause',
  'resume',
])

function refuseIf(mood: Mood): void {
  switch (mood) {
    case 'does_it':
      return
    case 'refuses':
      throw refusal()
    case 'is_silent':
      throw new QuittanceError('provider_unreachable', 'the provider does not answer')
    case 'garbles':
      throw new QuittanceError('provider_reply_invalid', 'the provider sent nothing readable')
    default:
      mood satisfies never
  }
}

/** An endpoint that nobody listens at, and one to delete; an event that is in the feed. */
async function endpointExamples(core: BillingCore): Promise<World['done']> {
  const make = async (name: string) => {
    const { endpoint } = await core.endpoints.create({ name, url: 'http://127.0.0.1:9/hooks' })
    return { id: endpoint.id }
  }
  const event = await eventually(async () => {
    const [first] = (await core.events.feed({ after: 'start' })).data
    return first?.id
  })
  const of = await make('one')
  return {
    getEvent: { id: event },
    createEndpoint: { body: { name: 'another', url: 'http://127.0.0.1:9/hooks' } },
    getEndpoint: of,
    updateEndpoint: { ...of, body: { description: 'changed' } },
    deleteEndpoint: await make('deleted'),
    enableEndpoint: of,
    disableEndpoint: of,
    replayEndpoint: { ...of, body: { after: 'start' } },
    resendEvent: { ...of, body: { event_id: event } },
    testEndpoint: of,
    rotateEndpointSecret: of,
    listForwardAttempts: of,
    listForwards: of,
  }
}

/** What there is: payments of every standing, a card, subscriptions, a document, a call, a review. */
async function fill(
  { core, post }: Service,
  provider: Provider,
): Promise<Pick<World, 'ids' | 'done'>> {
  const said = (...statements: readonly Statement[]) =>
    core.receive(statedCall(statements, 'scripted'))
  const paidBy = async (id: string, status: PaymentStatus) =>
    eventually(async () => {
      const payment = await core.payments.find(id)
      return payment?.status === status ? payment : undefined
    })
  const pending = await core.payments.create(order)
  const fake = await core.payments.create({ ...order, customer: { email: 'a@example.com' } })
  await post('/billing/webhooks/fake', fakeCallback(fake))
  await paidBy(fake.id, 'paid')
  const scripted = { ...order, gateway: 'scripted' }
  const wrong = await core.payments.create(scripted)
  const statement = { type: 'payment', status: 'paid', currency: 'UAH' } as const
  await said({ ...statement, payment: { id: wrong.id }, amount: 1n })
  const [review] = await eventually(async () => {
    const { data } = await core.reviews.list()
    return data.length > 0 ? data : undefined
  })
  const paid = await core.payments.create({ ...scripted, saveCard: true })
  const card = { type: 'payment_method', status: 'attached', reference: 'pm_1' } as const
  await said(
    { ...statement, payment: { id: paid.id }, amount: paid.amount },
    { ...card, payment: { id: paid.id }, details: {}, token: 'tok_1' },
  )
  await paidBy(paid.id, 'paid')
  const cards = await eventually(async () => {
    const { data } = await core.paymentMethods.list()
    return data.length > 0 ? data : undefined
  })
  const refund = await core.refunds.create(paid.id, { amount: 100 })
  const payable = { type: 'account', id: '7' }
  const terms = {
    payable,
    gateway: 'scripted',
    amount: 4_999,
    currency: 'UAH',
    every: 'month',
  } as const
  const [methodId] = cards.map(({ id }) => id)
  const subscribe = async (fields: object = {}) => {
    const { subscription } = await core.subscriptions.create({ ...terms, ...fields })
    return subscription.id
  }
  const charged = () => subscribe({ paymentMethodId: methodId })
  const local = await charged()
  const managed = await core.subscriptions.create({ ...terms, managedBy: 'provider' })
  if (managed.payment !== null) provider.begin(managed.payment)
  await core.subscriptions.sync(managed.subscription.id)
  const invoice = await core.invoices.issue(fake.id)
  await state(core, { type: 'ignored', reason: 'unhandled_event' })
  const calls = await core.calls.list()
  const run = await core.runs.start({ id: newUuid(), gateway: 'stripe' })
  const ids = {
    payment: [pending.id, fake.id, wrong.id, paid.id, refund.id],
    payment_method: cards.map(({ id }) => id),
    subscription: [local, managed.subscription.id],
    invoice: [invoice.id],
    call: calls.data.map(({ id }) => id),
    review: review === undefined ? [] : [review.id],
    run: [run.id],
  }
  const owed = await core.payments.create(order)
  const paused = await charged()
  await core.subscriptions.pause(paused, { at: 'now' })
  const bought = { gateway: 'fake', amount: 1999, currency: 'EUR', payable }
  const [replayed = ''] = ids.call
  const done: World['done'] = {
    createPayment: { body: bought },
    pollPayment: { id: wrong.id },
    cancelPayment: { id: owed.id },
    refundPayment: { id: fake.id, body: { amount: 1 } },
    createSubscription: { body: { gateway: 'scripted', payable, plan: 'pro' } },
    holdSubscriptions: { body: { reason: 'a test' } },
    cancelSubscription: { id: await charged() },
    pauseSubscription: { id: await charged() },
    resumeSubscription: { id: paused },
    changeSubscription: { id: await charged(), body: { plan: 'pro' } },
    paySubscription: { id: await subscribe() },
    syncSubscription: { id: managed.subscription.id },
    recordUsage: { body: { subscription_id: local, quota: 'calls', key: 'one' } },
    issueInvoice: { id: paid.id },
    voidInvoice: { id: (await core.invoices.issue(pending.id)).id },
    replayWebhookCall: { id: replayed },
    handleReview: { id: review?.id ?? '', body: { note: 'looked' } },
    stopRun: { id: run.id },
    ...(await endpointExamples(core)),
  }
  return { ids, done }
}
