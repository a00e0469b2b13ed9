import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startStandIn, type StandInReply } from '../../../test/support/stand-in.ts'
import {
  key,
  official,
  paidOrder,
  paymentId,
  signed,
  verdictOn,
} from '../../../test/gateways/hutko/callbacks.ts'
import { failureText, paymentOf, startOperations } from '../../../test/gateways/hutko/operations.ts'
import { hutko } from './index.ts'

const url = `https://pay.hutko.org/merchants/default/index.html?token=${paymentId}`

test('a checkout is asked for once, with everything that it needs and nothing else', async (t) => {
  const { checkout, provider, sent } = await startOperations(t)
  const payment = paymentOf({
    description: 'Дві кави',
    customer: { email: 'olena@example.org', name: 'Олена' },
  })
  const returnUrl = 'https://shop.example/billing/return/1'
  assert.deepEqual(await checkout({ payment, returnUrl, saveCard: true }), { url })
  assert.equal(provider.asked.length, 1)
  assert.equal(provider.asked[0]?.request.target, '/api/checkout/url')
  assert.deepEqual(sent(), [
    {
      order_id: paymentId,
      order_desc: 'Дві кави',
      amount: '4999',
      currency: 'UAH',
      merchant_id: '4815162',
      version: '1.0.1',
      server_callback_url: 'https://shop.example/billing/webhooks/hutko',
      response_url: returnUrl,
      lifetime: '3600',
      sender_email: 'olena@example.org',
      required_rectoken: 'Y',
      // Made with OpenSSL.
      signature: 'af2a92317b7fbaecb1507fff4466be516f9515cd',
    },
  ])
})

test('the official package makes the same request of these parameters', async (t) => {
  const { checkout, provider, sent } = await startOperations(t)
  await checkout()
  const { signature: _, ...parameters } = sent()[0] ?? {}
  const theirs = JSON.parse(official.getConvertedData('json', parameters, '1.0', key)) as object
  assert.deepEqual(theirs, JSON.parse(provider.asked[0]?.request.body ?? ''))
})

test('a payment without a description is called by its id', async (t) => {
  const { checkout, sent } = await startOperations(t)
  await checkout()
  assert.equal(sent()[0]?.['order_desc'], `Payment ${paymentId.slice(-8)}`)
  assert.equal(sent()[0]?.['sender_email'], undefined)
  assert.equal(sent()[0]?.['required_rectoken'], undefined)
})

/** Without a card's number, which would tell where the order's money ends. */
const paidByWallet = { ...paidOrder, masked_card: '' }

test('the checkout opens in the customer’s language, which is signed as everything is', async (t) => {
  for (const [locale, lang] of [
    ['uk-UA', 'uk'],
    ['en-GB', 'en'],
    ['de', undefined],
    ['uk|1', undefined],
  ] as const) {
    const { checkout, sent } = await startOperations(t)
    // The stand-in refuses what is not signed.
    assert.deepEqual(await checkout({ payment: { customer: { locale } } }), { url })
    assert.equal(sent()[0]?.['lang'], lang)
  }
})

test('no text of a payment can shift the signed values, or be taken for one of them', async (t) => {
  const descriptions: readonly (readonly [given: string, sent: string])[] = [
    ['a|b||c', 'a/b//c'],
    [' two\r\n\tlines \u0000 ', 'two lines'],
    ['half \ud800 a character', 'half \ufffd a character'],
    ['😀'.repeat(600), '😀'.repeat(512)],
    [`${'x'.repeat(1023)}😀`, `${'x'.repeat(1023)}\ufffd`],
    ['||', '//'],
    ['42', '#42'],
    ['UAH', '#UAH'],
    [' \n ', `Payment ${paymentId.slice(-8)}`],
  ]
  for (const [description, order_desc] of descriptions) {
    const { checkout, sent } = await startOperations(t)
    await checkout({
      payment: { description },
      callbackUrl: 'https://shop.example/a|b/hutko',
      returnUrl: 'https://shop.example/return?x=1|2',
    })
    assert.equal(sent()[0]?.['order_desc'], order_desc)
    assert.equal(verdictOn(signed({ ...paidByWallet, order_desc })), 'valid', order_desc)
    assert.equal(sent()[0]?.['server_callback_url'], 'https://shop.example/a%7Cb/hutko')
    assert.equal(sent()[0]?.['response_url'], 'https://shop.example/return?x=1%7C2')
  }
})

test('an e-mail address goes along only where it cannot be taken for anything else', async (t) => {
  const addresses: readonly (readonly [given: unknown, sent: string | undefined])[] = [
    ['first.last+tag@mail.example.org', 'first.last+tag@mail.example.org'],
    ['a|b@example.org', undefined],
    ['a b@example.org', undefined],
    ['"quoted"@example.org', undefined],
    ['nobody', undefined],
    ['a@b', undefined],
    ['a@example.org\n', undefined],
    [`a@${'x'.repeat(250)}.org`, undefined],
    [42, undefined],
    [['a@example.org'], undefined],
  ]
  for (const [email, sender_email] of addresses) {
    const { checkout, sent } = await startOperations(t)
    await checkout({ payment: paymentOf({ customer: { email } }) })
    assert.equal(sent()[0]?.['sender_email'], sender_email, String(email))
  }
})

test('a checkout ends when it should, as near as the provider can come to it', async (t) => {
  const times: readonly (readonly [asked: string, lifetime: string, told?: string])[] = [
    ['2026-11-20T12:00:01.999Z', '1'],
    ['2026-11-20T12:00:00Z', '1', '2026-11-20T12:00:01.000Z'],
    ['2025-01-01T00:00:00Z', '1', '2026-11-20T12:00:01.000Z'],
    ['2029-01-28T12:00:00Z', '69120000'],
    ['2036-11-20T12:00:00Z', '69120000', '2029-01-28T12:00:00.000Z'],
  ]
  for (const [asked, lifetime, told] of times) {
    const { checkout, sent } = await startOperations(t)
    const { expiresAt } = await checkout({ expiresAt: new Date(asked) })
    assert.equal(sent()[0]?.['lifetime'], lifetime, asked)
    assert.equal(expiresAt?.toISOString(), told, asked)
  }
})

test('an order that is there already leaves open what became of it', async (t) => {
  const { checkout, provider } = await startOperations(t)
  provider.misbehave('checkout', 'cut')
  assert.equal(await failureText(checkout()), 'provider_unreachable')
  assert.equal(await failureText(checkout()), 'provider_unreachable 1013')
  assert.deepEqual(provider.takeFaults(), [`the order ${paymentId} is made twice`])
  assert.equal(provider.checkouts(paymentId), 1)
})

test('a reply without a place to pay is none', async (t) => {
  const success = (fields: object): StandInReply => ({
    body: { response: { response_status: 'success', ...fields } },
  })
  const failed = (fields: object): StandInReply => ({
    body: { response: { response_status: 'failure', ...fields } },
  })
  const replies: readonly (readonly [StandInReply | undefined, expected: string])[] = [
    [success({}), 'provider_reply_invalid'],
    [success({ checkout_url: 'javascript:alert(1)' }), 'provider_reply_invalid'],
    [success({ checkout_url: 42 }), 'provider_reply_invalid'],
    [{ body: { response: { checkout_url: url } } }, 'provider_reply_invalid'],
    [{ body: {} }, 'provider_reply_invalid'],
    [{ body: [] }, 'provider_reply_invalid'],
    [{ body: '' }, 'provider_reply_invalid'],
    [{ body: { response: 'no' } }, 'provider_reply_invalid'],
    [undefined, 'provider_reply_invalid'],
    [failed({ error_code: 1007 }), 'provider_refused 1007'],
    [failed({ error_code: '1017' }), 'provider_refused 1017'],
    [failed({ response_code: 1008 }), 'provider_refused 1008'],
    [failed({ error_code: 1000 }), 'provider_unreachable 1000'],
    [failed({ error_code: 1002 }), 'provider_unreachable 1002'],
    [failed({ error_code: 9999 }), 'provider_unreachable 9999'],
    [failed({}), 'provider_unreachable no code'],
    [{ ...failed({ error_code: 1014 }), status: 400 }, 'provider_refused 1014'],
    [{ ...failed({ error_code: 1002 }), status: 400 }, 'provider_unreachable 1002'],
    [{ status: 403, body: '<html>Forbidden</html>' }, 'provider_unreachable'],
    [{ status: 302, headers: { location: '/elsewhere' }, body: '' }, 'provider_unreachable'],
  ]
  let next: StandInReply | undefined
  const standIn = await startStandIn(() => next)
  t.after(standIn.close)
  const { checkout, contextOf } = await startOperations(t)
  const context = contextOf()
  const settings = { ...context.credentials.settings, api_base: standIn.base }
  for (const [reply, expected] of replies) {
    next = reply
    const failure = await failureText(
      checkout({}, { credentials: { ...context.credentials, settings } }),
    )
    assert.equal(failure, expected, JSON.stringify(reply))
  }
  assert.equal(standIn.requests.length, replies.length)
})

test('money that the provider cannot count is not sent to it', () => {
  const faultOf = (amount: bigint, currency: string) => hutko.moneyFault?.({ amount, currency })
  assert.equal(faultOf(1n, 'UAH'), undefined)
  assert.equal(faultOf(999_999_999_999n, 'EUR'), undefined)
  assert.equal(faultOf(1_000_000_000_000n, 'EUR'), 'it takes amounts of up to 12 digits')
  assert.equal(faultOf(0n, 'UAH'), 'it takes no order over nothing')
  assert.match(faultOf(100n, 'JPY') ?? '', /two decimals, and JPY is none/)
  assert.match(faultOf(100n, 'KWD') ?? '', /two decimals, and KWD is none/)
})
