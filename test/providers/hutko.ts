import { createRequire } from 'node:module'
import { hutko } from '../../src/gateways/hutko/index.ts'
import type { AskedRequest, StandInReply } from '../support/stand-in.ts'
import {
  startProvider,
  type ProviderServer,
  type Asking,
  type ProviderStandIn,
  type Understood,
} from './provider-stand-in.ts'

/** The official package signs and checks for the provider; it comes without types. */
const official = createRequire(import.meta.url)('cloudipsp-node-js-sdk/lib/util.js') as {
  genSignature(parameters: object, key: string): string
}

interface Habits {
  /** While true, reversals are `created`, and `completeRefunds` does them. */
  slowRefunds: boolean
  /** While true, saved cards are declined. */
  declinesTokens: boolean
  /** With which. */
  declineCode: string
}

export interface HutkoStandIn extends ProviderStandIn {
  readonly habits: Habits
}

interface Reversal {
  readonly id: string
  readonly amount: bigint
  status: 'paid' | 'pending' | 'failed'
}

interface Order {
  readonly id: string
  readonly amount: bigint
  readonly currency: string
  readonly email: string
  readonly savesCard: boolean
  readonly byToken: boolean
  readonly reversals: Reversal[]
  status: 'created' | 'approved' | 'declined' | 'expired'
  /** Each try has an id of its own. */
  paymentId: number
  token: string
  declineCode: string
}

type Fields = Readonly<Record<string, string>>

const merchant = '4815162'
const key = 'Kd93hfT0payment_key_7'
const currencies = new Set(['UAH', 'USD', 'EUR', 'GBP', 'PLN', 'CZK', 'GEL', 'KZT', 'MDL'])
const url = /^https?:\/\/[^|\s]{1,2040}$/
const text = /^[^|\p{Cc}]{1,1024}$/u

const everywhere = {
  order_id: /^[^|\s]{1,1024}$/,
  merchant_id: /^\d{1,12}$/,
  version: /^1\.0\.1$/,
  signature: /^[0-9a-f]{40}$/,
}
const money = { amount: /^[1-9]\d{0,11}$/, currency: /^[A-Z]{3}$/ }
const newOrder = { ...everywhere, ...money, order_desc: text, server_callback_url: url }

interface Call {
  readonly asking: Asking
  readonly required: Readonly<Record<string, RegExp>>
  readonly optional?: Readonly<Record<string, RegExp>>
  /** How it is refused. */
  readonly refusal: string
  readonly perform: (state: State, fields: Fields) => StandInReply
}

/** Parameters as documented; the URLs are optional there, and we always send them. */
const calls: ReadonlyMap<string, Call> = new Map<string, Call>([
  [
    '/api/checkout/url',
    {
      asking: 'checkout',
      required: { ...newOrder, response_url: url, lifetime: /^[1-9]\d{0,7}$/ },
      optional: {
        required_rectoken: /^Y$/,
        sender_email: /^[^|\s]+@[^|\s]+\.[^|\s]+$/,
        lang: /^(?:uk|en)$/,
      },
      refusal: '1012',
      perform: openCheckout,
    },
  ],
  [
    '/api/status/order_id',
    { asking: 'poll', required: everywhere, refusal: '1016', perform: tell },
  ],
  [
    '/api/reverse/order_id',
    {
      asking: 'refund',
      required: { ...everywhere, ...money, reverse_id: /^[^|\s]{1,50}$/ },
      optional: { comment: text },
      refusal: '1069',
      perform: reverse,
    },
  ],
  [
    '/api/recurring',
    {
      asking: 'charge',
      required: { ...newOrder, rectoken: /^[A-Za-z0-9]{20,}$/ },
      refusal: '1035',
      perform: charge,
    },
  ],
])

const failure = (code: string): StandInReply => ({
  body: {
    response: {
      response_status: 'failure',
      error_code: Number(code),
      error_message: `Error ${code}`,
      request_id: 'HGh7ami3WN0ci',
    },
  },
})

const sign = (fields: object) => ({ ...fields, signature: official.genSignature(fields, key) })
const answer = (fields: object): StandInReply => ({ body: { response: fields } })

/** The parameters as texts; a text is what is wrong with the request. */
function readRequest(
  { required, optional = {} }: Call,
  { headers, body }: AskedRequest,
): Fields | string {
  if (headers['content-type']?.startsWith('application/json') !== true)
    return 'it is not sent as JSON'
  const { request, ...more } = JSON.parse(body) as { readonly request?: object }
  if (request === undefined || Object.keys(more).length > 0) return 'it is not within `request`'
  const fields = Object.fromEntries(
    Object.entries(request).map(([name, value]) => [name, String(value)]),
  )
  const grammars = { ...optional, ...required }
  const unknown = Object.keys(fields).find((name) => grammars[name] === undefined)
  if (unknown !== undefined) return `${unknown} is no parameter`
  const missing = Object.keys(required).find((name) => fields[name] === undefined)
  if (missing !== undefined) return `${missing} is missing`
  const wrong = Object.entries(fields).find(([name, value]) => !grammars[name]?.test(value))
  if (wrong !== undefined) return wrong.join(' is ')
  if (fields['merchant_id'] !== merchant) return `merchant_id is ${fields['merchant_id']}`
  if (Number(fields['lifetime'] ?? 1) > 69_120_000) return 'lifetime is too long'
  const { signature, ...signed } = fields
  return official.genSignature(signed, key) === signature ? fields : 'signature is of another key'
}

const reversed = ({ reversals }: Order, status: Reversal['status'] = 'paid') =>
  reversals.reduce((sum, made) => (made.status === status ? sum + made.amount : sum), 0n)

/** What callbacks and the API say of an order. */
function parametersOf(order: Order, operation: 'purchase' | 'reverse' = 'purchase'): object {
  const sum = reversed(order)
  const isPaid = order.status === 'approved'
  const wasTried = isPaid || order.status === 'declined'
  return sign({
    rrn: isPaid ? '732198450017' : '',
    masked_card: wasTried ? '444455XXXXXX1111' : '',
    sender_cell_phone: '',
    sender_account: '',
    currency: order.currency,
    fee: '',
    reversal_amount: String(sum),
    settlement_amount: '0',
    actual_amount: isPaid ? String(order.amount) : '',
    response_description: order.status === 'declined' ? 'Do not honor' : '',
    sender_email: order.email,
    order_status: isPaid && sum === order.amount ? 'reversed' : order.status,
    response_status: 'success',
    order_time: '20.11.2026 12:00:00',
    actual_currency: isPaid ? order.currency : '',
    order_id: order.id,
    tran_type: operation,
    eci: wasTried ? '5' : '',
    settlement_date: '',
    payment_system: wasTried ? 'card' : '',
    approval_code: isPaid ? '123456' : '',
    merchant_id: Number(merchant),
    settlement_currency: '',
    payment_id: order.paymentId,
    card_bin: wasTried ? 444455 : '',
    response_code: order.status === 'declined' ? Number(order.declineCode) : '',
    card_type: wasTried ? 'VISA' : '',
    amount: String(order.amount),
    product_id: '',
    merchant_data: '',
    rectoken: order.token,
    rectoken_lifetime: '',
    verification_status: '',
    parent_order_id: '',
    additional_info: JSON.stringify({
      capture_status: null,
      capture_amount: null,
      reservation_data: null,
      transaction_id: 2_025_817_355,
    }),
  })
}

const agent =
  'Mozilla/5.0 (X11; Linux x86_64; Twisted) AppleWebKit/537.36 Chrome/63.0 Safari/537.36'

const callback = (parameters: object) => ({
  headers: { 'user-agent': agent, 'content-type': 'application/json; charset=UTF-8' },
  body: JSON.stringify(parameters),
})

interface State {
  readonly orders: Map<string, Order>
  readonly faults: string[]
  readonly habits: Habits
  /** The latest of its own ids. */
  paymentId: number
}

function create(state: State, fields: Fields, byToken: boolean): Order | StandInReply {
  const { order_id: id = '', currency = '', amount = '', sender_email: email = '' } = fields
  if (!currencies.has(currency)) return failure('1012')
  if (state.orders.has(id)) {
    state.faults.push(`the order ${id} is made twice`)
    return failure('1013')
  }
  const order: Order = {
    id,
    currency,
    email,
    byToken,
    amount: BigInt(amount),
    savesCard: fields['required_rectoken'] === 'Y',
    reversals: [],
    status: 'created',
    paymentId: (state.paymentId += 1),
    token: '',
    declineCode: '1004',
  }
  state.orders.set(id, order)
  return order
}

function settle(state: State, order: Order, status: 'approved' | 'declined'): void {
  if (order.status === 'declined') order.paymentId = state.paymentId += 1
  order.status = status
  if (status === 'approved' && order.savesCard) {
    order.token = `I0wh7fBmFIdcY6K3Px2QugVrVR65sPafeZ${order.paymentId}`
  }
}

function openCheckout(state: State, fields: Fields): StandInReply {
  const order = create(state, fields, false)
  if (!('id' in order)) return order
  const checkout_url = `https://pay.hutko.org/merchants/default/index.html?token=${order.id}`
  const payment_id = String(order.paymentId)
  return answer({ response_status: 'success', checkout_url, payment_id })
}

function charge(state: State, fields: Fields): StandInReply {
  const { rectoken = '' } = fields
  if (![...state.orders.values()].some(({ token }) => token === rectoken)) return failure('1035')
  const order = create(state, fields, true)
  if (!('id' in order)) return order
  order.declineCode = state.habits.declineCode
  settle(state, order, state.habits.declinesTokens ? 'declined' : 'approved')
  order.token = rectoken
  return answer(parametersOf(order))
}

function reverse({ orders, habits }: State, fields: Fields): StandInReply {
  const { order_id = '', reverse_id: id = '', amount: units = '', currency } = fields
  const order = orders.get(order_id)
  if (order === undefined) return failure('1018')
  const made = order.reversals.find((reversal) => reversal.id === id)
  if (made !== undefined) return answer(reversalParameters(order, made))
  const amount = BigInt(units)
  const left = order.amount - reversed(order) - reversed(order, 'pending')
  // With which code too much is refused is not documented.
  if (currency !== order.currency || amount > left) return failure('1007')
  const status = order.status !== 'approved' ? 'failed' : habits.slowRefunds ? 'pending' : 'paid'
  const reversal: Reversal = { id, amount, status }
  order.reversals.push(reversal)
  return answer(reversalParameters(order, reversal))
}

function tell({ orders }: State, { order_id: id = '' }: Fields): StandInReply {
  const order = orders.get(id)
  return order === undefined ? failure('1018') : answer(parametersOf(order))
}

function understand(state: State, request: AskedRequest): Understood | undefined {
  const call = calls.get(request.target.replace(/\/$/, ''))
  if (call === undefined || request.method !== 'POST') {
    state.faults.push(`there is no ${request.method} ${request.target}`)
    return undefined
  }
  const { asking, refusal, perform } = call
  const fields = readRequest(call, request)
  if (typeof fields === 'string') {
    state.faults.push(`${request.target}: ${fields}`)
    const code = failure(fields.startsWith('signature') ? '1014' : '1007')
    return { asking, perform: () => code, refusal: code }
  }
  const wrong = () => answer(mixedUp(asking, state.orders.get(fields['order_id'] ?? '')))
  return { asking, perform: () => perform(state, fields), wrong, refusal: failure(refusal) }
}

/** hutko's API as documented for Fondy, Flitt and hutko; what is assumed says so. */
export async function startHutko(): Promise<HutkoStandIn> {
  const habits: Habits = { slowRefunds: false, declinesTokens: false, declineCode: '1004' }
  const state: State = { orders: new Map(), faults: [], habits, paymentId: 805_230_051 }
  const { orders, faults } = state
  const find = (id: string): Order => {
    const order = orders.get(id)
    if (order === undefined) throw new Error(`hutko has no order ${id}`)
    return order
  }
  const provider = await startProvider({
    understand: (request) => understand(state, request),
    faults,
    within: 'response',
    sign: ({ signature: _old, ...fields }) => sign(fields),
  })
  const own: Omit<HutkoStandIn, keyof ProviderServer> = {
    gateway: hutko,
    habits,
    config: { merchant_id: merchant, secret_key: key, api_base: provider.base },
    pay: (id) => settle(state, find(id), 'approved'),
    decline: (id) => settle(state, find(id), 'declined'),
    declineCharges: (code) => {
      Object.assign(habits, { declinesTokens: code !== undefined, declineCode: code ?? '1004' })
    },
    expire: (id) => {
      find(id).status = 'expired'
    },
    refundByHand: (id, amount) => {
      find(id).reversals.push({ id: '', amount, status: 'paid' })
    },
    completeRefunds: (id) => {
      for (const made of find(id).reversals) if (made.status === 'pending') made.status = 'paid'
    },
    refunds: (id) =>
      orders.get(id)?.reversals.map(({ amount, status }) => ({ amount, status })) ?? [],
    charges: (id) => {
      const { byToken, status } = orders.get(id) ?? {}
      return byToken === true && status === 'approved' ? 1 : 0
    },
    checkouts: (id) => (orders.get(id)?.byToken === false ? 1 : 0),
    paymentCallback: (id) => callback(parametersOf(find(id))),
    refundCallback: (id) => callback(parametersOf(find(id), 'reverse')),
  }
  return Object.assign(provider, own)
}

function reversalParameters(order: Pick<Order, 'id'>, { id, amount, status }: Reversal): object {
  const word = { paid: 'approved', pending: 'created', failed: 'declined' }[status]
  return sign({
    reverse_status: word,
    order_id: order.id,
    response_description: status === 'failed' ? 'Invalid transaction' : '',
    response_code: status === 'failed' ? 1065 : '',
    merchant_id: Number(merchant),
    response_status: 'success',
    reverse_id: id,
    reversal_amount: String(amount),
    transaction_id: '2011273408',
  })
}

/** The answer of a provider that takes one order for another. */
function mixedUp(asking: Asking, order: Order | undefined): object {
  if (asking === 'checkout' || order === undefined) return {}
  const other = { ...order, id: '0198f0aa-0000-7000-8000-00000000dead' }
  const reversal = order.reversals.at(-1)
  return asking === 'refund' && reversal !== undefined
    ? reversalParameters(other, reversal)
    : parametersOf(other)
}
