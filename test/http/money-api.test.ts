import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createApp } from '../../src/http/app.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { secret } from '../../src/kernel/secret.ts'
import { scripted, type Script } from '../cli/scripted-gateway.ts'
import { stating, statedCall, type Statement } from '../support/stating-gateway.ts'
import {
  apiToken,
  capturedLog,
  eventually,
  fakeCallback,
  maxBodyBytes,
  startService,
  type Service,
} from './service.ts'

let service: Service
before(async () => {
  service = await startService({
    billing: {
      extraGateways: [stating, scripted],
      gateways: { scripted: { api_key: 'key-of-the-scripted-gateway' } },
      returnOrigins: ['https://shop.example'],
      listeners: {
        fulfil: {
          on: 'PaymentSucceeded',
          run: ({ payment }) => {
            if (payment.metadata?.['listener'] === 'fails')
              throw new Error('the printer is on fire')
          },
        },
      },
    },
  })
})
after(() => service[Symbol.asyncDispose]())

type Json = Record<string, unknown>

const order = { amount: 1999, currency: 'USD', payable: { type: 'order', id: '7' } }
const unknownId = '0199a000-0000-7000-8000-0000000000ff'

async function post(path: string, body?: unknown): Promise<{ status: number; body: Json }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await service.api(path, {
    method: 'POST',
    ...(text !== undefined && { body: text }),
  })
  return { status: answer.status, body: (await answer.json()) as Json }
}

async function read(id: string): Promise<Json> {
  return (await (await service.api(`/payments/${id}`)).json()) as Json
}

/** Creates a payment that the provider treats by the script; its id, whatever was answered. */
async function begin(script: Script = {}, more: Json = {}): Promise<string> {
  const id = crypto.randomUUID()
  await post('/payments', { ...order, id, gateway: 'scripted', metadata: script, ...more })
  return id
}

/** Delivers a callback of the scripted gateway that means this outcome. */
async function state(statement: Statement): Promise<void> {
  const { status } = await service.core.receive(statedCall([statement], 'scripted'))
  assert.equal(status, 200)
}

async function pay(id: string): Promise<void> {
  const money = { amount: 1999n, currency: 'USD' }
  await state({ type: 'payment', payment: { id }, status: 'paid', ...money })
  await eventually(async () => ((await read(id))['status'] === 'paid' ? true : undefined))
}

/** A paid payment whose refunds go by the script. */
async function paid(script: Script = {}): Promise<string> {
  const id = await begin(script)
  await pay(id)
  return id
}

/** The id of a card that is attached to a payment of the gateway. */
async function savedCard(): Promise<string> {
  const id = await begin()
  const reference = `pm_${id}`
  await state({ type: 'payment_method', status: 'attached', reference, payment: { id } })
  return eventually(async () => {
    const [card] = (await read(id))['payment_methods'] as Json[]
    return card && String(card['id'])
  })
}

function shown(body: Json, ...fields: readonly string[]): readonly unknown[] {
  return fields.map((field) => body[field])
}

describe('saved cards', () => {
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await service.api(path, init)
    return { status: answer.status, body: (await answer.json()) as Json }
  }
  const idsOf = (body: Json) => (body['data'] as readonly Json[]).map(({ id }) => id)

  test('are listed, shown and removed; a removed one is not charged', async () => {
    const card = await savedCard()
    const { status, body } = await ask(`/payment-methods/${card}`)
    assert.deepEqual(
      [status, ...shown(body, 'id', 'gateway', 'status')],
      [200, card, 'scripted', 'attached'],
    )
    const mine = `/payment-methods?payment_id=${String(body['payment_id'])}`
    assert.deepEqual(idsOf((await ask(mine)).body), [card])
    assert.deepEqual(idsOf((await ask(`${mine}&payable=order:of:nobody`)).body), [])
    const { type, id } = (await read(String(body['payment_id'])))['payable'] as Json
    const payable = encodeURIComponent(`${String(type)}:${String(id)}`)
    assert.deepEqual(idsOf((await ask(`${mine}&payable=${payable}`)).body), [card])
    const removed = await ask(`/payment-methods/${card}`, { method: 'DELETE' })
    assert.deepEqual(
      [removed.status, ...shown(removed.body, 'status', 'has_token')],
      [200, 'detached', false],
    )
    assert.deepEqual(idsOf((await ask(`${mine}&status=attached`)).body), [])
    const charge = await post('/payments', {
      ...order,
      gateway: 'scripted',
      payment_method_id: card,
    })
    assert.deepEqual([charge.status, charge.body['code']], [422, 'payment_method_unusable'])
  })
})

describe('deferred events', () => {
  const failing = { metadata: { poll: 'paid', listener: 'fails' } }
  const deferredOf = async (path: string) =>
    ((await (await service.api(path)).json()) as Json)['deferred_events'] as readonly Json[]

  test('a payment shows the event that its listener failed for, and when it is tried again', async () => {
    const id = await begin({}, failing)
    const begun = Date.now()
    assert.equal((await post(`/payments/${id}/poll`)).status, 200)
    const ended = Date.now()
    const [event = {}, ...others] = await deferredOf(`/payments/${id}`)
    const { created_at: _, next_attempt_at: next, exception, ...rest } = event
    assert.deepEqual(others, [])
    assert.match(String(exception), /^in listener fulfil: Error: the printer is on fire/)
    // Its listener failed in between, and is tried again 10 s later.
    const failed = Date.parse(String(next)) - 10_000
    assert.ok(failed >= begun - 1 && failed <= ended + 1, `${failed}: ${begun} to ${ended}`)
    assert.deepEqual(
      { ...rest, id: 'an id' },
      {
        id: 'an id',
        dedup_key: `payment:paid:${id}`,
        type: 'PaymentSucceeded',
        payment_id: id,
        payment_method_id: null,
        subscription_id: null,
        invoice_id: null,
        data: null,
        webhook_call_id: null,
        source: 'poll',
        state: 'pending',
        attempts: 1,
      },
    )
    const { body } = await post(`/payments/${await paid()}/poll`)
    assert.deepEqual(await deferredOf(`/payments/${String((body['payment'] as Json)['id'])}`), [])
  })

  test('a call shows the deferred events of what it moved, and of nothing else', async () => {
    const id = await begin({}, failing)
    await state({ type: 'payment', payment: { id }, status: 'failed' })
    await pay(id)
    const page = (await (await service.api(`/webhook-calls?payment_id=${id}`)).json()) as Json
    const [paying, declining] = (page['data'] as readonly Json[]).map((call) => String(call['id']))
    assert.deepEqual(await deferredOf(`/webhook-calls/${paying}`), [])
    await post(`/payments/${id}/poll`)
    const [event] = await deferredOf(`/webhook-calls/${paying}`)
    assert.deepEqual(shown(event ?? {}, 'type', 'webhook_call_id', 'source'), [
      'PaymentSucceeded',
      paying,
      'poll',
    ])
    assert.deepEqual(await deferredOf(`/payments/${id}`), [event])
    assert.deepEqual(await deferredOf(`/webhook-calls/${declining}`), [])
  })
})

describe('POST /payments', () => {
  test('opens the checkout at the provider and shows it', async () => {
    const { status, body } = await post('/payments', { ...order, gateway: 'scripted' })
    const id = String(body['id'])
    assert.equal(status, 201)
    assert.deepEqual(shown(body, 'checkout', 'checkout_url', 'checkout_reference'), [
      'open',
      `https://checkout.example/${id}`,
      `co_${id}`,
    ])
    assert.deepEqual(shown(body, 'operation_error', 'save_card', 'payment_method_id'), [
      null,
      false,
      null,
    ])
    assert.equal(new Date(String(body['handed_at'])).toISOString(), body['handed_at'])
  })

  test('checkout: false asks nobody', async () => {
    const { body } = await post('/payments', { ...order, gateway: 'scripted', checkout: false })
    assert.deepEqual(shown(body, 'checkout', 'checkout_url', 'handed_at'), ['none', null, null])
  })

  test('expires_at is kept as the moment that it means', async () => {
    const sent = { ...order, gateway: 'scripted', expires_at: '2030-01-02T05:04:05+02:00' }
    const { body } = await post('/payments', sent)
    assert.equal(body['expires_at'], '2030-01-02T03:04:05.000Z')
  })

  test('payment_method_id charges the saved card, and says who asked for it', async () => {
    const card = await savedCard()
    const charge = { ...order, gateway: 'scripted', payment_method_id: card }
    const done = await post('/payments', { ...charge, initiated_by: 'merchant' })
    assert.deepEqual(
      [done.status, ...shown(done.body, 'status', 'payment_method_id')],
      [201, 'paid', card],
    )
    assert.match(String(done.body['provider_reference']), /^ch_merchant_/)
    const declined = await post('/payments', { ...charge, metadata: { charge: 'decline' } })
    assert.match(String(declined.body['provider_reference']), /^ch_customer_/)
    assert.deepEqual([declined.status, declined.body['status']], [201, 'failed'])
  })

  test('a checkout that failed is told to whoever asks again, and the payment shows it', async () => {
    const rows = [
      ['refuse', 502, 'checkout_refused', 'refused'],
      ['lose', 504, 'checkout_unknown', 'unknown'],
    ] as const
    for (const [checkout, status, code, state] of rows) {
      const id = crypto.randomUUID()
      const sent = { ...order, id, gateway: 'scripted', metadata: { checkout } }
      for (const turn of ['first', 'again']) {
        const answer = await post('/payments', sent)
        assert.deepEqual([answer.status, answer.body['code']], [status, code], turn)
        assert.ok(String(answer.body['message']).includes(id), 'it names the payment')
      }
      const payment = await read(id)
      assert.deepEqual(shown(payment, 'status', 'checkout'), ['pending', state])
      assert.match(String(payment['operation_error']), /^Scripted gateway /)
    }
  })
})

describe('refunds', () => {
  test('without a body all that is left goes back', async () => {
    const id = await paid()
    const part = await post(`/payments/${id}/refunds`, { amount: 500, reason: 'a dent' })
    assert.equal(part.status, 201)
    assert.deepEqual(shown(part.body, 'type', 'parent_id', 'status', 'amount', 'description'), [
      'refund',
      id,
      'paid',
      500,
      'a dent',
    ])
    const rest = await post(`/payments/${id}/refunds`)
    assert.deepEqual([rest.status, rest.body['amount']], [201, 1499])
    const { refunds, events } = await read(id)
    assert.equal((refunds as Json[]).length, 2)
    assert.ok((events as Json[]).length > 0)
  })

  test('the caller’s id makes the request repeatable', async () => {
    const id = await paid()
    const sent = { id: crypto.randomUUID(), amount: 500 }
    const first = await post(`/payments/${id}/refunds`, sent)
    const again = await post(`/payments/${id}/refunds`, sent)
    assert.deepEqual([first.status, again.status], [201, 201])
    assert.equal(again.body['id'], sent.id)
    assert.equal(((await read(id))['refunds'] as Json[]).length, 1)
  })

  test('one that nobody answered stays pending and shows why', async () => {
    const id = await paid({ refund: 'lose' })
    await post(`/payments/${id}/refunds`)
    const [refund] = (await read(id))['refunds'] as Json[]
    assert.deepEqual(shown(refund ?? {}, 'status', 'operation_error'), [
      'pending',
      'Scripted gateway does not answer',
    ])
  })
})

describe('poll', () => {
  test('applies what the provider says, and answers with it', async () => {
    const id = await begin({ poll: 'paid' })
    const { status, body } = await post(`/payments/${id}/poll`)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['payment', 'standing', 'results'])
    assert.deepEqual(shown(body['payment'] as Json, 'id', 'status'), [id, 'paid'])
    assert.equal(body['standing'], 'paid')
    assert.deepEqual(body['results'], [{ result: 'applied', type: 'payment:paid' }])
    const { transitions, events } = await read(id)
    assert.equal((transitions as Json[])[0]?.['cause'], 'poll')
    assert.equal((events as Json[]).length, 1)
  })

  test('an outcome that is none leaves the payment pending', async () => {
    const { body } = await post(`/payments/${await begin()}/poll`, {})
    assert.equal((body['payment'] as Json)['status'], 'pending')
    assert.equal(body['standing'], 'open')
    const [result] = body['results'] as Json[]
    assert.deepEqual(shown(result ?? {}, 'result', 'reason'), ['ignored', 'no_outcome'])
  })
})

describe('cancel', () => {
  test('closes the checkout and cancels the payment, once', async () => {
    const id = await begin()
    for (const turn of ['first', 'again']) {
      const { status, body } = await post(`/payments/${id}/cancel`)
      assert.equal(status, 200, turn)
      assert.deepEqual(shown(body, 'status', 'checkout'), ['canceled', 'closed'], turn)
    }
    const { events } = await read(id)
    assert.deepEqual(
      (events as Json[]).map(({ type }) => type),
      ['PaymentCanceled'],
    )
  })
})

describe('what cannot be done is answered with its code:', () => {
  interface Row {
    readonly code: string
    readonly status: number
    readonly providerCode?: string
    readonly field?: string
    /** What is asked for. */
    ask(): Promise<{ status: number; body: Json }>
  }
  const refund = async (script: Script, body?: Json) =>
    post(`/payments/${await paid(script)}/refunds`, body)
  const poll = async (script: Script) => post(`/payments/${await begin(script)}/poll`)
  const create = (more: Json) => post('/payments', { ...order, gateway: 'scripted', ...more })
  const declined = { providerCode: 'card_declined' }
  const rows: readonly Row[] = [
    {
      code: 'payment_not_refundable',
      status: 409,
      ask: async () => post(`/payments/${await begin()}/refunds`),
    },
    {
      code: 'payment_not_cancelable',
      status: 409,
      ask: async () => post(`/payments/${await paid()}/cancel`),
    },
    {
      code: 'refund_exists',
      status: 409,
      ask: async () => {
        const [id, own] = [await paid(), crypto.randomUUID()]
        await post(`/payments/${id}/refunds`, { id: own, amount: 5 })
        return post(`/payments/${id}/refunds`, { id: own, amount: 6 })
      },
    },
    { code: 'refund_too_large', status: 409, ask: () => refund({}, { amount: 2000 }) },
    { code: 'refund_invalid', status: 422, field: 'amount', ask: () => refund({}, { amount: 0 }) },
    {
      code: 'return_url_not_allowed',
      status: 422,
      field: 'return_url',
      ask: () => create({ return_url: 'https://elsewhere.example/' }),
    },
    {
      code: 'payment_method_unusable',
      status: 422,
      field: 'payment_method_id',
      ask: () => create({ payment_method_id: unknownId }),
    },
    {
      code: 'operation_unsupported',
      status: 422,
      ask: () => create({ gateway: 'stating', checkout: true }),
    },
    {
      code: 'gateway_not_configured',
      status: 422,
      ask: () => create({ gateway: 'stripe' }),
    },
    {
      code: 'checkout_refused',
      status: 502,
      ...declined,
      ask: () => create({ metadata: { checkout: 'refuse' } }),
    },
    { code: 'refund_refused', status: 502, ...declined, ask: () => refund({ refund: 'refuse' }) },
    {
      code: 'refund_refused',
      status: 502,
      providerCode: 'no_funds',
      ask: () => refund({ refund: 'fail' }),
    },
    { code: 'provider_refused', status: 502, ...declined, ask: () => poll({ poll: 'refuse' }) },
    { code: 'provider_reply_invalid', status: 502, ask: () => poll({ poll: 'garble' }) },
    {
      code: 'checkout_unknown',
      status: 504,
      ask: () => create({ metadata: { checkout: 'garble' } }),
    },
    { code: 'refund_unknown', status: 504, ask: () => refund({ refund: 'lose' }) },
    { code: 'provider_unreachable', status: 504, ask: () => poll({ poll: 'lose' }) },
  ]
  for (const { code, status, providerCode, field, ask } of rows) {
    test(`${status} ${code}${providerCode === undefined ? '' : ` (${providerCode})`}`, async () => {
      const answer = await ask()
      const { message, field: at, request_id: requestId, ...rest } = answer.body
      assert.equal(answer.status, status, JSON.stringify(answer.body))
      const known = providerCode === undefined ? {} : { provider_code: providerCode }
      assert.deepEqual(rest, { code, ...known })
      assert.equal(typeof message, 'string')
      assert.equal(at, field)
      assert.equal(typeof requestId, status < 500 ? 'undefined' : 'string')
    })
  }

  test('503 listener_missing, with the name of the listener', async () => {
    const { log, logged } = capturedLog()
    const text = 'this process lacks the listener(s) grant (PaymentSucceeded)'
    const failing = () => Promise.reject(new QuittanceError('listener_missing', text))
    const core = { ...service.core, payments: { ...service.core.payments, poll: failing } }
    const app = createApp(core, {
      apiToken: [secret(apiToken)],
      maxBodyBytes,
      webhookMiddleware: [],
      log,
    })
    const answer = await app.request(`/billing/api/payments/${unknownId}/poll`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}` },
    })
    assert.equal(answer.status, 503)
    assert.ok(answer.headers.get('retry-after'))
    assert.deepEqual(await answer.json(), {
      message: text,
      code: 'listener_missing',
      request_id: answer.headers.get('x-request-id'),
    })
    assert.ok(logged.some((line) => line.includes('grant')))
  })
})

describe('a body is checked before anybody is asked:', () => {
  const refundRule = 'amount must be a whole number of minor units from 1 to 9007199254740991'
  const reasonRule = 'reason must be text of 1 to 500 characters without control characters'
  const rows: readonly (readonly [string, unknown, number, string])[] = [
    ...[0, -1, 1.5, '100', null, 2 ** 53].map(
      (amount) => ['refunds', { amount }, 422, refundRule] as const,
    ),
    ['refunds', { id: 'x' }, 422, 'id must be a UUID'],
    ['refunds', { reason: '' }, 422, reasonRule],
    ['refunds', { reason: 'a\nb' }, 422, reasonRule],
    [
      'refunds',
      { ammount: 1 },
      422,
      'unknown field "ammount"; did you mean amount? There are id, amount, reason',
    ],
    ['refunds', [], 422, 'the body must be a JSON object'],
    ['refunds', '{', 400, 'the body is not JSON'],
    ['poll', { force: true }, 422, 'unknown field "force"'],
    ['cancel', { reason: 'x' }, 422, 'unknown field "reason"'],
    ['cancel', 'now', 400, 'the body is not JSON'],
    ['poll', ' '.repeat(70_000), 413, 'body too large'],
  ]
  for (const [operation, sent, status, message] of rows) {
    test(`${status} ${operation}: ${JSON.stringify(sent).slice(0, 60)}`, async () => {
      const id = await begin()
      const answer = await post(`/payments/${id}/${operation}`, sent)
      assert.deepEqual([answer.status, answer.body['message']], [status, message])
      assert.deepEqual(shown(await read(id), 'status', 'checkout'), ['pending', 'open'])
    })
  }
})

test('the fake gateway takes a payment through all of it', async () => {
  const made = await post('/payments', { ...order, gateway: 'fake' })
  const id = String(made.body['id'])
  assert.equal((await post(`/payments/${id}/poll`)).status, 200)
  await service.post('/billing/webhooks/fake', fakeCallback({ id }))
  await eventually(async () => ((await read(id))['status'] === 'paid' ? true : undefined))
  const refund = await post(`/payments/${id}/refunds`)
  assert.deepEqual([refund.status, refund.body['status']], [201, 'paid'])
})
