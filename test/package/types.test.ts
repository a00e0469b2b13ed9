import assert from 'node:assert/strict'
import test from 'node:test'
import { trace, type Tracer as OpenTelemetryTracer } from '@opentelemetry/api'
import { expectTypeOf } from 'expect-type'
import {
  createBilling,
  defineConfig,
  defineListeners,
  errorCatalogue,
  eventTypes,
  isQuittanceError,
  type Billing,
  type BillingCore,
  type BillingEvent,
  type BillingOptions,
  type ConfigFileOptions,
  type BoundBilling,
  type CallDetails,
  type CurrencyCode,
  type ErrorCode,
  type EventOf,
  type ListedEvent,
  type ListedPayment,
  type ListedPaymentJson,
  type EventType,
  type ListenerContext,
  type ListenerTransaction,
  type Page,
  type Payment,
  type PaymentDetails,
  type PaymentJson,
  type PaymentMethod,
  type QueuedListenerContext,
  type SubscriptionJson,
  type Tracer,
  type WebhookCall,
} from 'quittance'
import { invalid, type Gateway, type Outcome, type Payload, type Verdict } from 'quittance/gateways'

/**
 * What holds here holds when it compiles: `npm run types` is the test, this run its witness.
 * `@ts-expect-error` is an assertion too: it fails where the next line is not refused.
 */
const billing = createBilling({ database: { memory: true } })

test('all options may be left out, and a misspelt one is refused', () => {
  expectTypeOf<BillingOptions>().toExtend<Parameters<typeof createBilling>[0]>()
  expectTypeOf(createBilling).returns.toEqualTypeOf<Billing>()
  expectTypeOf({}).toExtend<BillingOptions>()
  // @ts-expect-error -- there is no such option
  defineConfig({ databse: {} })
  // @ts-expect-error -- a size is a number
  defineConfig({ database: { pool_size: '10' } })
  expectTypeOf<keyof BillingOptions>().toEqualTypeOf<
    | 'url'
    | 'database'
    | 'webhook'
    | 'api'
    | 'forward'
    | 'apiDocs'
    | 'billing'
    | 'brand'
    | 'gateways'
    | 'extraGateways'
    | 'listeners'
    | 'plans'
    | 'returnOrigins'
    | 'invoices'
    | 'review'
    | 'search'
    | 'subscriptions'
    | 'usage'
    | 'providerTimeoutMs'
    | 'listenerBudgetMs'
    | 'environment'
    | 'production'
    | 'tracer'
    | 'log'
    | 'onLost'
  >()
})

test('a tracer of OpenTelemetry is one, in options and in the file', () => {
  expectTypeOf<OpenTelemetryTracer>().toExtend<Tracer>()
  createBilling({ tracer: trace.getTracer('shop'), database: { memory: true } })
  defineConfig({ tracer: trace.getTracer('shop') })
  // @ts-expect-error -- this is what tracers come from
  assert.throws(() => createBilling({ tracer: trace }), { code: 'setting_invalid' })
})

test('a listener knows its event and its context', () => {
  billing.on('PaymentSucceeded', 'grantAccess', (event, context) => {
    expectTypeOf(event).toEqualTypeOf<EventOf<'PaymentSucceeded'>>()
    expectTypeOf(event.type).toEqualTypeOf<'PaymentSucceeded'>()
    expectTypeOf(event.payment.amount).toEqualTypeOf<bigint>()
    expectTypeOf(context).toEqualTypeOf<ListenerContext>()
    expectTypeOf(context.tx).toEqualTypeOf<ListenerTransaction>()
    expectTypeOf(context.billing).toEqualTypeOf<BoundBilling>()
  })
  const fileCard = (event: EventOf<'PaymentMethodAttached'>) => void event.paymentMethod.details
  billing.on('PaymentMethodAttached', 'fileCard', fileCard)
  // @ts-expect-error -- it listens to another event
  billing.on('PaymentSucceeded', 'filePaid', fileCard)
  // @ts-expect-error -- there is no such event
  assert.throws(() => billing.on('PaymentPaid', 'never', () => {}))
  // @ts-expect-error -- it has no name
  assert.throws(() => billing.on('PaymentSucceeded', function grantAgain() {}))
})

test('a listener of several events distinguishes them by their type', () => {
  billing.on(['PaymentFailed', 'PaymentMethodDetached'], 'fileAway', (event, { tx }) => {
    expectTypeOf(event.type).toEqualTypeOf<'PaymentFailed' | 'PaymentMethodDetached'>()
    expectTypeOf(tx).toEqualTypeOf<ListenerTransaction>()
    if (event.type === 'PaymentMethodDetached')
      expectTypeOf(event.paymentMethod).toEqualTypeOf<PaymentMethod>()
    else expectTypeOf(event.payment).toEqualTypeOf<Payment>()
  })
  const types = ['PaymentFailed', 'PaymentCanceled'] as const
  const reopen = (event: EventOf<'PaymentFailed' | 'PaymentCanceled'>) => void event.payment
  billing.on(types, 'reopen', reopen)
  // @ts-expect-error -- it does not expect a payment that succeeded
  billing.on([...types, 'PaymentSucceeded'], 'reopenAll', reopen)
  billing.on(eventTypes, 'log', (event) => expectTypeOf(event).toEqualTypeOf<EventOf<EventType>>())
  // @ts-expect-error -- there is no such event
  assert.throws(() => billing.on(['PaymentFailed', 'PaymentPaid'], 'never', () => {}))
})

test('a queued listener has no transaction', () => {
  const queued = { queued: true } as const
  billing.on(
    'PaymentSucceeded',
    'sendReceipt',
    (event, context) => {
      expectTypeOf(event.payment).toEqualTypeOf<Payment>()
      expectTypeOf(context).toEqualTypeOf<QueuedListenerContext>()
      expectTypeOf(context).not.toHaveProperty('tx')
      expectTypeOf(context.billing).toEqualTypeOf<BillingCore>()
      expectTypeOf(context.idempotencyKey).toEqualTypeOf<string>()
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>()
    },
    queued,
  )
})

test('the listeners of a configuration are inferred from what they listen to', () => {
  const config = defineConfig({
    listeners: {
      grantAccess: {
        on: 'PaymentSucceeded',
        run: (event, { tx }) => {
          expectTypeOf(event).toEqualTypeOf<EventOf<'PaymentSucceeded'>>()
          expectTypeOf(tx).toEqualTypeOf<ListenerTransaction>()
        },
      },
      tellCustomer: {
        on: 'PaymentFailed',
        queued: true,
        run: (event, context) => {
          expectTypeOf(event).toEqualTypeOf<EventOf<'PaymentFailed'>>()
          expectTypeOf(context).toEqualTypeOf<QueuedListenerContext>()
        },
      },
      fileAway: {
        on: ['PaymentRefunded', 'PaymentMethodDetached'],
        superseded: true,
        async run(event, context) {
          expectTypeOf(event).toEqualTypeOf<EventOf<'PaymentRefunded' | 'PaymentMethodDetached'>>()
          expectTypeOf(context).toEqualTypeOf<ListenerContext>()
          if (event.type === 'PaymentRefunded') expectTypeOf(event.payment).toEqualTypeOf<Payment>()
          else expectTypeOf(event.paymentMethod).toEqualTypeOf<PaymentMethod>()
        },
      },
      mailAway: {
        on: ['PaymentMethodAttached', 'PaymentMethodDetached'],
        queued: true,
        run: ({ paymentMethod }, context) => {
          expectTypeOf(paymentMethod).toEqualTypeOf<PaymentMethod>()
          expectTypeOf(context).toEqualTypeOf<QueuedListenerContext>()
        },
      },
    },
  })
  expectTypeOf<ConfigFileOptions>().toExtend<Parameters<typeof defineConfig>[0]>()
  // An app may pass what the file holds.
  expectTypeOf(config).toExtend<BillingOptions>()
  // @ts-expect-error -- the file writes its keys in snake_case
  defineConfig({ extraGateways: [] })
  // @ts-expect-error -- these, too
  defineConfig({ webhook: { pruneAfterDays: 30 } })
  // @ts-expect-error -- and the library its options in camelCase
  createBilling({ webhook: { prune_after_days: 30 } })
  createBilling(config)
  // @ts-expect-error -- the service has a log of its own
  defineConfig({ log: undefined })
  // @ts-expect-error -- there is no such event
  defineConfig({ listeners: { never: { on: 'PaymentPaid', run: () => {} } } })
  // @ts-expect-error -- the key is a name, and says nothing of the event
  defineConfig({ listeners: { PaymentSucceeded: () => {} } })
  // @ts-expect-error -- there is no transaction around it
  defineConfig({ listeners: { a: { on: 'PaymentFailed', queued: true, run: (_, { tx }) => tx } } })
})

test('listeners in a file of their own are inferred, for the file and the app', () => {
  const listeners = defineListeners({
    one: {
      on: 'PaymentFailed',
      run: (event, { tx }) => {
        expectTypeOf(event).toEqualTypeOf<EventOf<'PaymentFailed'>>()
        expectTypeOf(tx).toEqualTypeOf<ListenerTransaction>()
      },
    },
    both: {
      on: ['PaymentFailed', 'PaymentCanceled'],
      queued: true,
      run: (event, context) => {
        expectTypeOf(event).toEqualTypeOf<EventOf<'PaymentFailed' | 'PaymentCanceled'>>()
        expectTypeOf(context).toEqualTypeOf<QueuedListenerContext>()
      },
    },
  })
  createBilling({ ...defineConfig({ listeners }), environment: {} })
  // @ts-expect-error -- there is no such event
  defineListeners({ never: { on: 'PaymentPaid', run: () => {} } })
})

test('listeners are inferred by createBilling, and in options that are declared', () => {
  const created = createBilling({
    database: { memory: true },
    listeners: {
      both: {
        on: ['PaymentFailed', 'PaymentCanceled'],
        run: (event) =>
          expectTypeOf(event).toEqualTypeOf<EventOf<'PaymentFailed' | 'PaymentCanceled'>>(),
      },
    },
  })
  expectTypeOf(created.on).toEqualTypeOf<Billing['on']>()
  const options: BillingOptions = {
    listeners: {
      one: {
        on: 'PaymentFailed',
        run: ({ payment }) => expectTypeOf(payment).toEqualTypeOf<Payment>(),
      },
      both: { on: ['PaymentFailed', 'PaymentCanceled'], run: (event: BillingEvent) => event.type },
    },
  }
  createBilling({ ...options, production: false })
})

test('results are typed to the field', () => {
  const { payments, calls, events } = billing
  expectTypeOf(payments.create).returns.resolves.toEqualTypeOf<Payment>()
  expectTypeOf(payments.get).returns.resolves.toEqualTypeOf<PaymentDetails | undefined>()
  expectTypeOf(payments.list).returns.resolves.toEqualTypeOf<Page<ListedPayment>>()
  expectTypeOf(calls.get).returns.resolves.toEqualTypeOf<CallDetails | undefined>()
  expectTypeOf(calls.list).returns.resolves.toEqualTypeOf<Page<WebhookCall>>()
  expectTypeOf(events.list).returns.resolves.toEqualTypeOf<Page<ListedEvent>>()
  expectTypeOf(billing.fetch).toExtend<(request: Request) => Promise<Response>>()
  expectTypeOf<Payment['status']>().toEqualTypeOf<'pending' | 'paid' | 'failed' | 'canceled'>()
  expectTypeOf<WebhookCall['state']>().toEqualTypeOf<
    'pending' | 'processing' | 'processed' | 'ignored' | 'failed'
  >()
  expectTypeOf(billing).toExtend<AsyncDisposable>()
})

test('what is written as JSON is typed as it is written', () => {
  expectTypeOf<Payment['toJSON']>().returns.toEqualTypeOf<PaymentJson>()
  expectTypeOf<PaymentJson['created_at']>().toEqualTypeOf<string>()
  expectTypeOf<PaymentJson['handed_at']>().toEqualTypeOf<string | null>()
  expectTypeOf<PaymentJson['amount']>().toEqualTypeOf<number>()
  expectTypeOf<PaymentJson>().not.toHaveProperty('createdAt')
  expectTypeOf<ListedPaymentJson>().toExtend<PaymentJson>()
  expectTypeOf<SubscriptionJson['paid_until']>().toEqualTypeOf<string | null>()
})

test('amounts are whole minor units: a bigint or a whole number', () => {
  type Input = Parameters<Billing['payments']['create']>[0]
  expectTypeOf<Input['amount']>().toEqualTypeOf<bigint | number>()
  expectTypeOf<Payment['amount']>().toEqualTypeOf<bigint>()
})

test('a length, a currency and a customer are typed, where they are written down', () => {
  type Input = Parameters<Billing['subscriptions']['create']>[0]
  const wide: string = 'EUR'
  const terms = { gateway: 'fake', payable: { type: 'account', id: '7' }, amount: 900 } as const
  const sold: readonly Input[] = [
    { ...terms, currency: 'UAH', every: 'month', customer: { id: 7, email: 'a@b.example' } },
    { ...terms, currency: 'USD', every: '3 months', customer: { locale: 'uk', tier: 'gold' } },
    { ...terms, currency: wide, every: { unit: 'week', count: 2 } },
    // @ts-expect-error -- no length is spelled so
    { ...terms, currency: 'UAH', every: 'montly' },
    // @ts-expect-error -- nor this one: it could mean anything
    { ...terms, currency: 'UAH', every: 'months' },
    // @ts-expect-error -- an address is a text
    { ...terms, currency: 'UAH', every: 'year', customer: { email: 7 } },
  ]
  expectTypeOf(sold).items.toEqualTypeOf<Input>()
  expectTypeOf<'UAH'>().toExtend<CurrencyCode>()
})

test('names are inferred from what the options declare', () => {
  const config = defineConfig({
    database: { memory: true },
    plans: {
      basic: { amount: 900, currency: 'UAH', every: 'month', quotas: { api_calls: { limit: 10 } } },
      pro: { amount: 1900, currency: 'UAH', every: 'month', quotas: { exports: { limit: 5 } } },
    },
    gateways: { 'stripe-eu': { driver: 'stripe' } },
  })
  const shop = createBilling(config)
  const of = { payable: { type: 'account', id: '7' } }
  const calls = [
    () => shop.subscriptions.create({ ...of, gateway: 'stripe-eu', plan: 'pro' }),
    () => shop.subscriptions.change('', { plan: 'basic' }),
    () => shop.payments.create({ ...of, gateway: 'fondy', amount: 1, currency: 'UAH' }),
    () => shop.usage.record({ subscriptionId: '', quota: 'exports', key: '' }),
    () => shop.usage.get('', 'api_calls'),
    // @ts-expect-error -- there is no such plan
    () => shop.subscriptions.create({ ...of, gateway: 'fake', plan: 'prooo' }),
    // @ts-expect-error -- nor is there when it is changed
    () => shop.subscriptions.change('', { plan: 'prooo' }),
    // @ts-expect-error -- there is no such gateway
    () => shop.payments.create({ ...of, gateway: 'strip', amount: 1, currency: 'UAH' }),
    // @ts-expect-error -- there is no such quota
    () => shop.usage.record({ subscriptionId: '', quota: 'export', key: '' }),
    // @ts-expect-error -- nor in a look
    () => shop.usage.get('', 'export'),
  ]
  assert.equal(calls.length, 10)
  const wide: Billing = shop
  const some: string = 'any'
  const unchecked = () => wide.subscriptions.create({ ...of, gateway: some, plan: some })
  expectTypeOf(unchecked).toBeFunction()
  const own = (extraGateways: readonly Gateway[]) =>
    createBilling({ extraGateways }).payments.create({
      ...of,
      gateway: some,
      amount: 1,
      currency: 'UAH',
    })
  expectTypeOf(own).toBeFunction()
})

test('one record of usage says what became of it, or throws', () => {
  type Result = Awaited<ReturnType<typeof recordOne>>['result']
  const recordOne = () => billing.usage.record({ subscriptionId: '', quota: 'a', key: 'b' })
  expectTypeOf<Result>().toEqualTypeOf<'counted' | 'duplicate' | 'refused'>()
})

test('the one route that has a URL is named', () => {
  expectTypeOf(billing.url).parameter(0).toEqualTypeOf<'billing.webhook'>()
  expectTypeOf(billing.url).parameter(1).toEqualTypeOf<{ readonly gateway: string }>()
  // @ts-expect-error -- there is no such route
  const url: string = billing.url('billing.webhooks', { gateway: 'fake' })
  assert.match(url, /\/billing\/webhooks\/fake$/)
})

test('the code of an error is one of a closed list', () => {
  expectTypeOf<ErrorCode>().toEqualTypeOf<keyof typeof errorCatalogue>()
  expectTypeOf<'database_unreachable'>().toExtend<ErrorCode>()
  expectTypeOf<string>().not.toExtend<ErrorCode>()
  try {
    createBilling({ url: 'nowhere' })
    assert.fail('the setting was taken')
  } catch (error) {
    assert.ok(isQuittanceError(error))
    expectTypeOf(error.code).toEqualTypeOf<ErrorCode>()
    expectTypeOf(error.fix).toEqualTypeOf<string>()
    assert.ok(error.code in errorCatalogue)
  }
})

test('the contract of a gateway speaks in unions', () => {
  expectTypeOf<Parameters<Gateway['interpret']>[0]>().toEqualTypeOf<Payload>()
  expectTypeOf<Payload['kind']>().toEqualTypeOf<'json' | 'form' | 'unreadable'>()
  expectTypeOf<{ valid: true }>().toExtend<Verdict>()
  expectTypeOf<{ valid: false }>().not.toExtend<Verdict>()
  const listed: Verdict<'wrong_signature'> = invalid('wrong_signature')
  expectTypeOf(listed).toExtend<Verdict>()
  // @ts-expect-error -- a reason that is not listed
  const other: Verdict<'wrong_signature'> = invalid('another')
  assert.ok('valid' in other)
  expectTypeOf<Outcome['type']>().toEqualTypeOf<
    'payment' | 'refund' | 'payment_method' | 'dispute' | 'subscription' | 'invoice' | 'ignored'
  >()
  expectTypeOf<NonNullable<BillingOptions['extraGateways']>[number]>().toEqualTypeOf<Gateway>()
})
