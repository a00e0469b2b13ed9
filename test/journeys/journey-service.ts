import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { builtin } from '../../src/gateways/builtin.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'
import type { Gateway, SignInput } from '../../src/gateways/gateway.ts'
import type { Credentials } from '../../src/gateways/credential-fields.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { testCredentials } from '../../src/testing/test-credentials.ts'
import { postgres } from '../support/databases.ts'
import { directPool } from '../support/direct-pool.ts'
import { startLocalService } from '../support/local-service.ts'
import { startStandIn } from '../support/stand-in.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

const apiToken = 'token-of-the-journeys'

/** A payment as the management API shows it. */
export interface PaymentView {
  readonly id: string
  readonly type: string
  readonly gateway: string
  readonly status: string
  readonly amount: number
  readonly currency: string
  readonly live: boolean | null
  readonly merchant_account: string | null
  readonly checkout_reference: string | null
  readonly provider_reference: string | null
  readonly payable: { readonly type: string; readonly id: string }
  readonly events: readonly { readonly type: string; readonly dedup_key: string }[]
  readonly refunds: readonly PaymentView[]
  readonly disputes: readonly { readonly id: string; readonly status: string }[]
  readonly payment_methods: readonly { readonly status: string; readonly has_token: boolean }[]
}

/** A stored call as the management API lists it. */
export interface CallView {
  readonly gateway: string
  readonly state: string
  readonly needs_review: boolean
  readonly outcome: readonly { readonly result: string; readonly type: string; reason?: string }[]
}

/** What a callback states otherwise than its payment is. */
export type Change = Partial<SignInput['payment']>

/** The service on PostgreSQL, with every gateway configured; what is asserted is seen over HTTP. */
export async function startJourneys() {
  const database = await postgres.create()
  assert.ok(database.url !== undefined)
  const wayforpay = await wayforpayStandIn()
  const env = { ...environment(), WAYFORPAY_API_BASE: wayforpay.base }
  const settings = { ...env, DATABASE_URL: database.url, BILLING_API_TOKEN: apiToken }
  const folder = temporaryFolder()
  const service = await startLocalService({ cwd: folder.path, env: settings })

  const api = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const headers = { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' }
    const answer = await fetch(`${service.url}/billing/api${path}`, { headers, ...init })
    const text = await answer.text()
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`)
    return JSON.parse(text) as T
  }

  // Asked hundreds of times: over HTTP that would cost more than the journeys.
  const pool = directPool({ connectionString: database.url, max: 1 })
  /** Until no call is pending or in work. */
  const idle = () =>
    until(
      async () => {
        const { rows } = await pool.query(
          `select from billing.webhook_calls where state in ('pending', 'processing') limit 1`,
        )
        return rows.length === 0
      },
      { what: 'no call is pending' },
    )

  const post = (gateway: string, { headers, body }: { headers: object; body: string }) =>
    fetch(`${service.url}/billing/webhooks/${gateway}`, {
      method: 'POST',
      headers: { ...headers },
      body,
    })

  return {
    wayforpay,
    post,
    idle,
    create: (gateway: Gateway, fields: object = {}) =>
      api<PaymentView>('/payments', {
        method: 'POST',
        body: JSON.stringify({
          gateway: gateway.name,
          amount: 15_075,
          currency: 'UAH',
          payable: { type: 'order', id: '42' },
          checkout: false,
          ...fields,
        }),
      }),
    payment: (id: string) => api<PaymentView>(`/payments/${id}`),
    payments: async (gateway: Gateway) =>
      (await api<{ data: readonly PaymentView[] }>(`/payments?gateway=${gateway.name}&limit=100`))
        .data,
    calls: async (query: string) =>
      (await api<{ data: readonly CallView[] }>(`/webhook-calls?limit=100&${query}`)).data,
    events: async (type: string) =>
      (await api<{ data: PaymentView['events'] }>(`/events?type=${type}&limit=100`)).data,
    /** Sends a callback, sees that it is answered 200, and waits until it is processed. */
    send: async (gateway: Gateway, callback: Callback) => {
      const answer = await post(gateway.name, sign(gateway, callback))
      assert.equal(answer.status, 200, `${gateway.name} ${callback.scenario}`)
      const body = await answer.text()
      await idle()
      return body
    },
    close: async () => {
      await service.stop()
      await pool.end()
      await wayforpay.close()
      await database.drop()
      folder.remove()
    },
  }
}

export interface Callback {
  readonly scenario: string
  readonly payment: PaymentView | string
  readonly change?: Change
  /** Whose secrets sign it. */
  readonly owner?: string
}

/** As the provider would word and sign it. */
export function sign(gateway: Gateway, { scenario, payment, change, owner }: Callback) {
  const { signer } = gateway
  assert.ok(signer, `${gateway.name} can sign`)
  const view = typeof payment === 'string' ? undefined : payment
  return signer.sign({
    scenario,
    credentials: credentialsOf(gateway, owner),
    now: new Date(),
    newId: newUuid,
    payment: {
      id: typeof payment === 'string' ? payment : payment.id,
      amount: BigInt(view?.amount ?? 15_075),
      currency: view?.currency ?? 'UAH',
      checkoutReference: view?.checkout_reference ?? null,
      providerReference: view?.provider_reference ?? null,
      merchantAccount: view?.merchant_account ?? null,
      live: view?.live ?? null,
      ...change,
    },
  })
}

export function credentialsOf(gateway: Gateway, owner = 'merchant'): Credentials {
  const config = testCredentials(gateway, owner)
  return readCredentials(gateway, {}, { production: false, config })
}

function environment(): Readonly<Record<string, string>> {
  const values: Record<string, string> = {}
  for (const gateway of builtin) {
    for (const [name, value] of Object.entries(testCredentials(gateway, 'merchant'))) {
      const variable = gateway.credentials[name]?.env[0]
      if (variable !== undefined) values[variable] = value
    }
  }
  return values
}

/** What WayForPay would say of an order: the refunded sum and the card's token, in major units. */
export interface WayforpayOrder {
  readonly refundAmount: string
  readonly recToken?: string
}

/** CHECK_STATUS of WayForPay: refunded sums and card tokens are not in what its callbacks sign. */
async function wayforpayStandIn() {
  const orders = new Map<string, WayforpayOrder>()
  const standIn = await startStandIn(({ body }) => {
    const { orderReference, merchantAccount } = JSON.parse(body) as Record<string, string>
    const order = orders.get(orderReference ?? '')
    if (order === undefined) return { body: { reason: 'Order Not Found', reasonCode: 1127 } }
    const status = Number(order.refundAmount) > 0 ? 'Refunded' : 'Approved'
    const signed = [merchantAccount, orderReference, '150.75', 'UAH', '541963', '', status, '1100']
    const key = testCredentials(wayforpayOf(), 'merchant')['secret_key'] ?? ''
    const signature = createHmac('md5', key).update(signed.join(';')).digest('hex')
    const token = order.recToken === undefined ? '' : `,"recToken":"${order.recToken}"`
    return {
      body: `{"merchantAccount":"${merchantAccount}","orderReference":"${orderReference}",
        "merchantSignature":"${signature}","amount":150.75,"currency":"UAH","authCode":"541963",
        "cardPan":"","transactionStatus":"${status}","reason":"Ok","reasonCode":1100,
        "refundAmount":${order.refundAmount}${token}}`,
    }
  })
  return { ...standIn, orders }
}

function wayforpayOf(): Gateway {
  const found = builtin.find(({ name }) => name === 'wayforpay')
  assert.ok(found)
  return found
}
