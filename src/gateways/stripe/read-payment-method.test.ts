import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capturedLog } from '../../../test/support/captured-log.ts'
import {
  expanded,
  listOf,
  method,
  methodShown,
  startApi,
} from '../../../test/gateways/stripe/api.ts'
import {
  assertIgnored,
  event,
  fromSession,
  intent,
  interpret,
  interpretAll,
  paymentId,
  session,
  type Fields,
} from '../../../test/gateways/stripe/events.ts'

const saved = {
  type: 'payment_method',
  status: 'attached',
  reference: 'pm_1',
  live: false,
  customerReference: 'cus_1',
  details: methodShown,
} as const
const savedWithPayment = { ...saved, payment: { id: paymentId } }
const setup = (fields: Fields = {}): Fields => ({
  id: 'seti_1',
  object: 'setup_intent',
  customer: 'cus_1',
  metadata: { payment_id: paymentId },
  payment_method: 'pm_1',
  status: 'succeeded',
  ...fields,
})
const onAttached = (fields: Fields = {}) =>
  interpret(event('payment_method.attached', method(fields)))
const intentPath = expanded('/v1/payment_intents/pi_1')
const setupPath = expanded('/v1/setup_intents/seti_1')
const paidSession = event('checkout.session.completed', session())
const paid = { ...fromSession, status: 'paid' }

test('an attached card is saved, with what may be shown of it', async () => {
  assert.deepEqual(await onAttached(), saved)
  const named = await onAttached({ metadata: { payment_id: paymentId } })
  assert.deepEqual(named, savedWithPayment)
  const bound = event('payment_method.attached', method(), { livemode: true, account: 'acct_1' })
  const found = await interpret(bound)
  assert.deepEqual(found, { ...saved, live: true, merchantAccount: 'acct_1' })
})

const intentsPath = '/v1/payment_intents?customer=cus_1&limit=100'
const setupsPath = '/v1/setup_intents?payment_method=pm_1&limit=100'
const saving = (fields: Fields = {}): Fields => ({
  ...intent({ setup_future_usage: 'off_session', payment_method: 'pm_1' }),
  ...fields,
})

test('an attached card says the payment of the intent, or of the setup, that saved it', async () => {
  const attached = event('payment_method.attached', method())
  const other = saving({ id: 'pi_2', metadata: { payment_id: 'order-7' } })
  const cases = [
    [[saving()], [], savedWithPayment],
    // Its first intent: later ones found the card saved.
    [[other, saving()], [], savedWithPayment],
    [[], [setup()], savedWithPayment],
    [[], [], saved],
    // Another system's.
    [[saving(), other], [], saved],
    [[saving({ metadata: {} })], [], saved],
    [[saving({ payment_method: 'pm_2' })], [setup({ payment_method: 'pm_2' })], saved],
    [[saving({ setup_future_usage: null })], [], saved],
  ] as const
  for (const [intents, setups, expected] of cases) {
    await using api = await startApi({
      [intentsPath]: listOf(intents),
      [setupsPath]: listOf(setups),
    })
    assert.deepEqual(await api.interpret(attached), [expected])
  }
})

test('the intents of a customer are asked for from 90 days before the card was made', async () => {
  const made = method({ created: 1_800_000_000 })
  const from = 1_800_000_000 - 90 * 86_400
  await using api = await startApi({
    [`/v1/payment_intents?customer=cus_1&created[gte]=${from}&limit=100`]: listOf([saving()]),
  })
  assert.deepEqual(await api.interpret(event('payment_method.attached', made)), [savedWithPayment])
  const ownerless = event('payment_method.attached', method({ customer: null }))
  await api.interpret(ownerless)
  assert.equal(api.asked().length, 1)
})

test('a card waits while Stripe does not tell its payment, unless it does not tell this key', async () => {
  const attached = event('payment_method.attached', method())
  for (const reply of [{ status: 503, body: {} }, { body: '<html>' }]) {
    await using api = await startApi({ [intentsPath]: () => reply })
    await assert.rejects(api.interpret(attached))
  }
  await using api = await startApi({ [intentsPath]: () => ({ status: 403, body: {} }) })
  const { log, lines } = capturedLog()
  assert.deepEqual(await api.interpret(attached, { log }), [saved])
  assert.equal(lines.length, 1)
})

test('a detached card is removed, and its former owner is the one in what changed', async () => {
  const object = method({ customer: null })
  const data = { object, previous_attributes: { customer: 'cus_1' } }
  const gone = { ...saved, status: 'detached' }
  const found = await interpret({ ...event('payment_method.detached', object), data })
  assert.deepEqual(found, gone)
  const { customerReference: _, ...ownerless } = gone
  for (const previous_attributes of [undefined, null, [], {}, { customer: null }]) {
    const unsaid = { ...event('payment_method.detached', object), data: { object } }
    const found = await interpret({ ...unsaid, data: { object, previous_attributes } })
    assert.deepEqual(found, ownerless)
  }
})

test('what is shown of other means of payment is what they have', async () => {
  const cases = [
    [
      { type: 'sepa_debit', sepa_debit: { last4: '3000' } },
      { kind: 'sepa_debit', lastFour: '3000' },
    ],
    [{ type: 'paypal', paypal: {} }, { kind: 'paypal' }],
    [
      { card: { brand: 'visa', last4: '4242', wallet: { type: 'apple_pay' } } },
      { kind: 'apple_pay', brand: 'visa', lastFour: '4242' },
    ],
    [{ card: { brand: 'VISA!', last4: '42', exp_month: 13, exp_year: 31 } }, { kind: 'card' }],
    [{ card: { exp_month: 0, exp_year: '2031', last4: 4242, brand: null } }, { kind: 'card' }],
    [{ card: null }, { kind: 'card' }],
  ] as const
  for (const [fields, details] of cases) {
    assert.deepEqual(await onAttached(fields), { ...saved, details })
  }
  const { details: _, ...bare } = saved
  for (const type of [null, '', '<b>', 'x'.repeat(65)]) {
    assert.deepEqual(await onAttached({ type }), bare)
  }
  assert.deepEqual(await onAttached({ card: { exp_month: 12 } }), {
    ...saved,
    details: { kind: 'card', expiryMonth: 12 },
  })
})

test('a card without a usable id is malformed_payload, and a foreign reference invalid', async () => {
  for (const id of [null, 'cus_1', 'pm 1', `pm_${'x'.repeat(300)}`]) {
    assertIgnored(await onAttached({ id }), 'malformed_payload', 'data.object.id')
    const gone = event('payment_method.detached', method({ id }))
    assertIgnored(await interpret(gone), 'malformed_payload', 'data.object.id')
  }
  const foreign = await onAttached({ metadata: { payment_id: 'order-7' } })
  assertIgnored(foreign, 'invalid_reference', 'order-7')
})

test('a customer’s id may be any that a merchant gave, within bounds', async () => {
  const own = await onAttached({ customer: 'olena@shop.example' })
  assert.deepEqual(own, { ...saved, customerReference: 'olena@shop.example' })
  const { customerReference: _, ...ownerless } = saved
  for (const customer of [null, '', 'a b', 'x'.repeat(256), 7, { id: 'cus_1' }]) {
    assert.deepEqual(await onAttached({ customer }), ownerless)
  }
})

test('without an API key a setup names the card alone', async () => {
  const { details: _, ...bare } = savedWithPayment
  assert.deepEqual(await interpret(event('setup_intent.succeeded', setup())), bare)
  const { payment: __, ...loose } = bare
  const unnamed = event('setup_intent.succeeded', setup({ metadata: {} }))
  assert.deepEqual(await interpret(unnamed), loose)
  const cases = [
    [{ metadata: { payment_id: 'order-7' } }, 'invalid_reference', 'order-7'],
    [{ status: 'processing' }, 'no_outcome', 'setup status processing'],
    [{ payment_method: null }, 'malformed_payload', 'payment_method'],
    [{ payment_method: { id: 'cus_1' } }, 'malformed_payload', 'payment_method'],
    [{ id: 'pi_1' }, 'malformed_payload', 'data.object.id'],
  ] as const
  for (const [fields, reason, detail] of cases) {
    assertIgnored(await interpret(event('setup_intent.succeeded', setup(fields))), reason, detail)
  }
})

test('with an API key a setup tells the card’s details, and without an answer its id', async () => {
  const succeeded = event('setup_intent.succeeded', setup())
  const { details: _, ...bare } = savedWithPayment
  {
    await using api = await startApi({ [setupPath]: setup({ payment_method: method() }) })
    assert.deepEqual(await api.interpret(succeeded), [savedWithPayment])
    const waiting = event('setup_intent.succeeded', setup({ status: 'processing' }))
    const [found] = await api.interpret(waiting)
    assertIgnored(found, 'no_outcome')
    assert.deepEqual(api.asked(), [setupPath])
  }
  for (const status of [404, 403]) {
    await using api = await startApi({ [setupPath]: () => ({ status, body: {} }) })
    const { log, lines } = capturedLog()
    assert.deepEqual(await api.interpret(succeeded, { log }), [bare])
    assert.equal(lines.length, status === 403 ? 1 : 0)
  }
})

test('a checkout that only saves a card is looked up', async () => {
  const fields = { mode: 'setup', payment_status: 'no_payment_required', setup_intent: 'seti_1' }
  const completed = (more: Fields = {}) =>
    event('checkout.session.completed', session({ ...fields, ...more }))
  const unknown = await interpret(completed())
  assertIgnored(unknown, 'no_outcome', 'mode setup: STRIPE_SECRET_KEY is not set')
  await using api = await startApi({
    [setupPath]: setup({ metadata: {}, payment_method: method({ customer: null }) }),
  })
  assert.deepEqual(await api.interpret(completed()), [savedWithPayment])
  const stranger = { metadata: {}, client_reference_id: null }
  assert.deepEqual(await api.interpret(completed(stranger)), [saved])
  const cases = [
    [{ metadata: {}, client_reference_id: 'order-7' }, 'invalid_reference', 'order-7'],
    [{ setup_intent: null }, 'malformed_payload', 'data.object.setup_intent'],
    [{ setup_intent: 'seti_2' }, 'no_outcome', 'seti_2 not found'],
  ] as const
  for (const [more, reason, detail] of cases) {
    const [found] = await api.interpret(completed(more))
    assertIgnored(found, reason, detail)
  }
})

test('a checkout that only saves a card is tried again while Stripe does not answer', async () => {
  const fields = { mode: 'setup', setup_intent: 'seti_1' }
  await using api = await startApi({ [setupPath]: () => ({ status: 403, body: {} }) })
  const completed = event('checkout.session.completed', session(fields))
  await assert.rejects(api.interpret(completed), { code: 'provider_refused' })
})

test('a paid checkout that has saved its card says both, the payment first', async () => {
  for (const setup_future_usage of ['off_session', 'on_session']) {
    const found = intent({ setup_future_usage, payment_method: method() })
    await using api = await startApi({ [intentPath]: found })
    assert.deepEqual(await api.interpret(paidSession), [paid, savedWithPayment])
    const late = event('checkout.session.async_payment_succeeded', session())
    assert.deepEqual(await api.interpret(late), [paid, savedWithPayment])
  }
})

test('a paid checkout that has saved no card says so, and unpaid ones ask nobody', async () => {
  const withoutCard = [
    { setup_future_usage: null, payment_method: method() },
    { setup_future_usage: 'brand_new', payment_method: method() },
    { setup_future_usage: 'off_session', payment_method: 'pm_1' },
    { setup_future_usage: 'off_session', payment_method: null },
  ]
  for (const fields of withoutCard) {
    await using api = await startApi({ [intentPath]: intent(fields) })
    assert.deepEqual(await api.interpret(paidSession), [paid])
  }
  await using api = await startApi({})
  assert.deepEqual(await api.interpret(paidSession), [paid])
  assert.equal(api.asked().length, 1)
  const unpaid = session({ payment_status: 'unpaid' })
  await api.interpret(event('checkout.session.completed', unpaid))
  await api.interpret(event('checkout.session.completed', session({ payment_intent: null })))
  assert.equal(api.asked().length, 1)
  assert.deepEqual(await interpretAll(paidSession), [paid])
})

test('no failure of a look-up takes a paid checkout away; the log tells of it', async () => {
  const failures = [
    () => ({ status: 401, body: { error: { type: 'invalid_request_error' } } }),
    () => ({ status: 403, body: {} }),
    () => ({ body: '<html>' }),
    () => ({ body: [] }),
  ]
  for (const failure of failures) {
    await using api = await startApi({ [intentPath]: failure })
    const { log, lines } = capturedLog()
    assert.deepEqual(await api.interpret(paidSession, { log }), [paid])
    const [line, ...more] = lines
    assert.deepEqual(more, [])
    assert.equal(line?.['level'], 40)
    assert.equal(line?.['event'], 'evt_1')
    assert.doesNotMatch(JSON.stringify(lines), /sk_test_/)
  }
  await using api = await startApi({ [intentPath]: () => 'hang' })
  const signal = AbortSignal.timeout(50)
  assert.deepEqual(await api.interpret(paidSession, { signal }), [paid])
})
