import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { openProxied, type ProxiedBilling } from '../intake/proxied.ts'
import { scriptedGateway, type Script } from '../money/scripted.ts'
import { onPostgres } from '../support/databases.ts'

onPostgres((engine) => {
  const script: Script = {}
  /** What the provider was asked to do, by the id of the payment or refund. */
  const asked: string[] = []
  let billing: ProxiedBilling

  before(async () => {
    billing = await openProxied(engine, { extraGateways: [scriptedGateway(script)] })
    script.open = async ({ payment }) => {
      asked.push(`open ${payment.id}`)
      return { url: 'https://pay.test' }
    }
    script.refund = async ({ refund }) => {
      asked.push(`refund ${refund.id}`)
      return { status: 'pending' }
    }
    script.chargeSavedCard = async ({ payment: { id, amount, currency } }) => {
      asked.push(`charge ${id}`)
      const paid = { type: 'payment', payment: { id }, status: 'paid', amount, currency } as const
      return { outcomes: [paid] }
    }
  })
  afterEach(() => asked.splice(0))
  after(() => billing[Symbol.asyncDispose]())

  const order = {
    gateway: 'scripted',
    amount: 10_000,
    currency: 'USD',
    payable: { type: 'order', id: '42' },
  }
  const card = async () => {
    const id = newUuid()
    await billing.direct.query(
      `insert into billing.payment_methods (id, gateway, status, provider_reference)
       values ($1::uuid, 'scripted', 'attached', $1::text)`,
      [id],
    )
    return id
  }
  const createPaid = async () => {
    const payment = await billing.core.payments.create({ ...order, paymentMethodId: await card() })
    assert.equal(payment.status, 'paid')
    asked.length = 0
    return payment
  }
  const countOf = async (parentId: string) => {
    const { rows } = await billing.direct.query<{ n: number }>(
      'select count(*)::int as n from billing.payments where parent_id = $1',
      [parentId],
    )
    return rows[0]?.n
  }

  for (const [whose, ownId] of [
    ["the caller's id", newUuid()],
    ['an id of ours', undefined],
  ] as const) {
    test(`a refund with ${whose} is asked for once where the answer to its commit is lost`, async () => {
      const payment = await createPaid()
      const input = { amount: 4_000, ...(ownId !== undefined && { id: ownId }) }
      const { struck } = billing.proxy.next(/^commit$/i, 'cut_answer')
      const refund = await billing.core.refunds.create(payment.id, input)
      await struck
      assert.deepEqual(asked, [`refund ${refund.id}`])
      assert.equal(refund.id, ownId ?? refund.id)
      assert.equal(await countOf(payment.id), 1)
      const rest = await billing.core.refunds.create(payment.id, { amount: 6_000 })
      assert.deepEqual(asked, [`refund ${refund.id}`, `refund ${rest.id}`])
    })
  }

  test('two calls with one id, the answer to the first commit lost: one asks, both get the refund', async () => {
    const payment = await createPaid()
    const id = newUuid()
    const { struck } = billing.proxy.next(/^commit$/i, 'cut_answer')
    const refunds = await Promise.all(
      Array.from({ length: 5 }, () => billing.core.refunds.create(payment.id, { id })),
    )
    await struck
    assert.deepEqual(asked, [`refund ${id}`])
    assert.deepEqual(new Set(refunds.map((refund) => refund.id)), new Set([id]))
    assert.equal((await billing.core.refunds.create(payment.id, { id })).id, id)
    assert.deepEqual(asked, [`refund ${id}`])
  })

  const creations: readonly (readonly [string, () => Promise<CreatePaymentInput>])[] = [
    ['checkout', async () => order],
    ["checkout with the caller's id", async () => ({ ...order, id: newUuid() })],
    ['charge of a card', async () => ({ ...order, paymentMethodId: await card() })],
    [
      "charge of a card with the caller's id",
      async () => ({ ...order, id: newUuid(), paymentMethodId: await card() }),
    ],
  ]
  for (const [what, inputOf] of creations) {
    for (const fault of ['cut_before', 'cut_answer'] as const) {
      test(`a ${what} is asked for once where its row meets ${fault}`, async () => {
        const input = await inputOf()
        const count = `select count(*)::int as n from billing.payments`
        const before = (await billing.direct.query<{ n: number }>(count)).rows[0]?.n ?? 0
        const { struck } = billing.proxy.next(/insert into billing\.payments /, fault)
        const payment = await billing.core.payments.create(input)
        await struck
        const verb = input.paymentMethodId === undefined ? 'open' : 'charge'
        assert.deepEqual(asked, [`${verb} ${payment.id}`])
        assert.equal((await billing.direct.query<{ n: number }>(count)).rows[0]?.n, before + 1)
        if (input.id === undefined) return
        assert.equal((await billing.core.payments.create(input)).id, payment.id)
        assert.equal(asked.length, 1, 'repeated, it asks nobody')
      })
    }
  }

  test('a payment with the id of a refund is another one', async () => {
    const payment = await createPaid()
    const { id } = await billing.core.refunds.create(payment.id)
    const alike: CreatePaymentInput = { ...order, id, checkout: false }
    await assert.rejects(billing.core.payments.create(alike), { code: 'payment_exists' })
  })
})
