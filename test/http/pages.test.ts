import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { receivedCalls } from '../support/billing.ts'
import fc from 'fast-check'
import { humanMoney } from '../../src/http/human-money.ts'
import { visibleText } from '../../src/http/visible-text.ts'
import { gatewayInPath } from '../../src/http/webhook-path.ts'
import { callDetailsView } from '../../src/wire/call.ts'
import { displayJson } from '../../src/wire/call.ts'
import type { ReceivedCall } from '../../src/events/webhook-call.ts'
import { eventually, order, startService } from './service.ts'
import type { Service } from './service.ts'
import { anyText } from '../support/any-text.ts'

let service: Service
before(async () => {
  service = await startService({ billing: { returnOrigins: ['https://shop.example'] } })
})
after(() => service[Symbol.asyncDispose]())

const pageOf = async (id: string, query = '') => {
  const answer = await fetch(`${service.listening.url}/billing/fake/checkout/${id}${query}`, {
    headers: { 'accept-language': 'en' },
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
const press = (id: string, body: string) =>
  fetch(`${service.listening.url}/billing/fake/checkout/${id}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  })

describe('the checkout page of the fake gateway', () => {
  test('shows what is to be paid, with two buttons and no script', async () => {
    const payment = await service.core.payments.create({
      ...order,
      payable: { type: 'AppOrder', id: 'inner-7' },
      description: 'Two tickets',
    })
    const { status, headers, text } = await pageOf(payment.id)
    assert.equal(status, 200)
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
    for (const shown of ['UAH 1,250.00', 'Two tickets', payment.id, 'Pending']) {
      assert.ok(text.includes(shown), shown)
    }
    assert.equal(/AppOrder|inner-7/.test(text), false, 'the merchant’s own names')
    assert.match(text, /value="success">\s*Pay/)
    assert.match(text, /value="failure">\s*Decline/)
    assert.equal(/<script/i.test(text), false)
    const policy = headers.get('content-security-policy') ?? ''
    const style = /<style>(.*)<\/style>/s.exec(text)?.[1] ?? ''
    const digest = createHash('sha256').update(style).digest('base64')
    assert.ok(policy.startsWith(`default-src 'none'; style-src 'sha256-${digest}'; `), policy)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.equal(policy.includes('unsafe'), false)
  })

  for (const [result, status, word] of [
    ['success', 'paid', 'Paid'],
    ['failure', 'failed', 'Declined'],
  ] as const) {
    test(`${result} goes through the real route and the page shows: ${word}`, async () => {
      const payment = await service.core.payments.create(order)
      const answer = await press(payment.id, `result=${result}`)
      assert.equal(answer.status, 303)
      const location = answer.headers.get('location') ?? ''
      assert.equal(location, `/billing/return/${payment.id}`)
      const stored = await eventually(async () => {
        const found = await service.core.payments.get(payment.id)
        return found?.status === status ? found : undefined
      })
      assert.equal(stored.events.length, 1)
      const { text } = await pageOf(payment.id)
      assert.match(text, new RegExp(`class="status ${status}">\\s*${word}`))
      assert.equal(text.includes('http-equiv="refresh"'), false)
      assert.equal(text.includes('value="success"'), status !== 'paid')
      assert.equal(text.includes('value="failure"'), false)
    })
  }

  test('a press that the webhook route does not take is said on this page', async () => {
    await using refusing = await startService({
      work: false,
      app: { webhookMiddleware: [(c) => Promise.resolve(c.text('no', 429))] },
    })
    const { id } = await refusing.core.payments.create(order)
    const at = `${refusing.listening.url}/billing/fake/checkout/${id}`
    const body = new URLSearchParams({ result: 'success' })
    const answer = await fetch(at, { method: 'POST', redirect: 'manual', body })
    assert.equal(answer.headers.get('location'), `/billing/fake/checkout/${id}?answer=429`)
    assert.match(await (await fetch(`${at}?lang=en&answer=429`)).text(), /route answered 429/)
  })

  test('ignores queries that it never wrote', async () => {
    const { id } = await service.core.payments.create(order)
    for (const query of ['?answer=200', '?answer=<b>', '?answer=4030', '?look=1']) {
      const { status, text } = await pageOf(id, query)
      assert.equal(status, 200)
      assert.equal(text.includes('<b>') || text.includes('route answered'), false, query)
    }
  })

  test('saves the test card that was chosen, if the payment saves one', async () => {
    for (const [saveCard, card, saved] of [
      [true, 'soft', 'soft'],
      [true, undefined, 'good'],
      [false, 'soft', undefined],
    ] as const) {
      const { id } = await service.core.payments.create({ ...order, saveCard })
      const { text } = await pageOf(id)
      assert.equal(/<option value="soft">\s*Are declined/.test(text), saveCard)
      const fields = card === undefined ? '' : `&card=${card}`
      assert.equal((await press(id, `result=success${fields}`)).status, 303)
      const payload = await eventually(async () => {
        const [call] = await receivedCalls(service.core, { paymentId: id })
        return call?.payload ?? undefined
      })
      const sent = JSON.parse(payload) as { readonly card?: string }
      assert.equal(sent.card, saved)
    }
  })

  test('a press that is none of the two answers 400 and sends nothing', async () => {
    const { id } = await service.core.payments.create(order)
    for (const body of [
      '',
      'result=success&card=gold',
      'result=paid',
      'result=',
      '{"result":"success"}',
      'x'.repeat(5_000),
    ]) {
      assert.equal((await press(id, body)).status, 400)
    }
    assert.deepEqual(await receivedCalls(service.core, { paymentId: id }), [])
  })

  test('an unknown payment, and one of another gateway, answer 404', async () => {
    const stripe = await service.core.payments.create({
      ...order,
      gateway: 'stripe',
      checkout: false,
    })
    for (const id of [stripe.id, '0199a000-0000-7000-8000-0000000000ff', 'x', '__proto__']) {
      const { status, text } = await pageOf(id)
      assert.equal(status, 404)
      assert.match(text, /No such payment/)
      assert.equal((await press(id, 'result=success')).status, 404)
    }
  })

  test('173, 174, 177: hostile texts are shown, never run, and reorder nothing', async () => {
    const hostile = '</dd><script>alert(1)</script>"\'`${1}{{7*7}}&amp;'
    const payment = await service.core.payments.create({
      ...order,
      payable: { type: '<script>', id: hostile },
      description: `<img src=x onerror=alert(1)>${hostile} pay\u202eyap\u200b\u2066!${'e\u0301'.repeat(3)}${'\u0301'.repeat(300)}`,
      returnUrl: 'https://shop.example/?a="><script>1</script>',
    })
    const { text } = await pageOf(payment.id)
    assert.equal(/<script|<img/i.test(text), false)
    assert.ok(text.includes('&lt;img src=x onerror=alert(1)&gt;'), text)
    assert.ok(text.includes('pay\\u{202e}yap\\u{200b}\\u{2066}!'))
    assert.equal(/\p{M}{4}/u.test(text), false)
    assert.equal(text.includes('"><script'), false)
  })
})

describe('money for people', () => {
  const known = [
    [125_000n, 'UAH', 'UAH 1,250.00'],
    [0n, 'USD', '$0.00'],
    [7n, 'CAD', 'CA$0.07'],
    [500n, 'JPY', '¥500'],
    [12_345n, 'KWD', 'KWD 12.345'],
    [9_007_199_254_740_991n, 'EUR', '€90,071,992,547,409.91'],
    // Of these the data of languages leaves the decimals out, and the amount has them.
    [12_345n, 'AFN', 'AFN 123.45'],
    [12_345n, 'LBP', 'LBP 123.45'],
    // A callback may state any.
    [500n, 'EURO', '500 EURO'],
  ] as const
  for (const [amount, currency, text] of known) {
    test(`${amount} minor units of ${currency} read ${text}`, () => {
      assert.equal(humanMoney({ amount, currency }, 'en'), text)
    })
  }

  test('it is written as the language does', () => {
    assert.equal(humanMoney({ amount: 125_000n, currency: 'UAH' }, 'uk'), '1 250,00 ₴')
    assert.equal(humanMoney({ amount: 125_000n, currency: 'USD' }, 'uk'), '1 250,00 USD')
  })

  test('no digit is ever lost', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 53n }), (amount) => {
        const digits = humanMoney({ amount, currency: 'USD' }, 'en').replaceAll(/\D/g, '')
        assert.equal(BigInt(digits), amount)
      }),
    )
  })
})

test('visible text never holds an invisible character and is never long', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 500 }), (text) => {
      const shown = visibleText(text)
      assert.equal(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(shown), false)
      assert.ok(shown.length <= 201)
    }),
  )
})

test('a path finds its gateway exactly where the template has the segment', () => {
  const part = fc.stringMatching(/^[a-z0-9_.:*-]{0,8}$/)
  fc.assert(
    fc.property(part, part, fc.stringMatching(/^[a-z_]{1,10}$/), (before, after, gateway) => {
      const find = gatewayInPath([`/${before}{gateway}${after}`])
      assert.equal(find(`/${before}${gateway}${after}`), gateway)
      assert.equal(find(`/${before}${after}`), undefined)
      assert.equal(find(`/${before}${gateway}/${after}`), undefined)
      assert.equal(find(`/${before}${gateway}${after}/`), undefined)
    }),
  )
})

describe('a stored payload as JSON to show', () => {
  const texts = [
    '{"amount":10.50,"big":12345678901234567890,"huge":1e400,"tiny":-0.0}',
    '{"a":[1,2,{"b":null}],"c":"\\u0000","d":true}',
    '{"__proto__":{"x":1},"constructor":2}',
  ]
  for (const text of texts) {
    test(`${text} keeps every number as written`, () => {
      assert.equal(JSON.stringify(displayJson(text)), text)
    })
  }

  test('what is no JSON, or nests without end, stays text', () => {
    for (const text of ['', '{', '['.repeat(100_000)]) assert.equal(displayJson(text), text)
  })

  test('any JSON text means the same afterwards', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        assert.deepEqual(JSON.parse(JSON.stringify(displayJson(text))), JSON.parse(text))
      }),
    )
  })

  test('bytes that the payload does not carry are shown as base64', () => {
    const at = new Date('2026-11-20T10:00:00Z')
    const call: ReceivedCall = {
      id: '0199a000-0000-7000-8000-000000000001',
      gateway: 'stripe',
      queue: 'default',
      url: 'https://pay.example.test/x',
      headers: {},
      kind: 'unreadable',
      payload: null,
      body: new Uint8Array([0xff, 0x00, 0x41]),
      bodyEncrypted: false,
      state: 'ignored',
      attempts: 1,
      leasesLost: 0,
      nextAttemptAt: at,
      exception: null,
      outcome: null,
      needsReview: false,
      paymentId: null,
      receivedAt: at,
      processedAt: at,
      dedupClaims: [],
    }
    const view = callDetailsView({ ...call, deferredEvents: [], failedAttempts: [] })
    assert.deepEqual([view.payload, view.body_base64], [null, '/wBB'])
    assert.equal(view.next_attempt_at, null)
    assert.equal(view.received_at, '2026-11-20T10:00:00.000Z')
  })
})
