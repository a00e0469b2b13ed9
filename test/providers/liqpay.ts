import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { liqpay } from '../../src/gateways/liqpay/index.ts'
import type { AskedRequest, StandInReply } from '../support/stand-in.ts'
import {
  isAmount,
  jsonOf,
  readRequest,
  shopOf,
  signatureOf,
  type Data,
  type Fields,
  type Shop,
} from './liqpay-request.ts'
import {
  startProvider,
  type Asking,
  type MadeRefund,
  type ProviderStandIn,
  type Understood,
} from './provider-stand-in.ts'

/** LiqPay on this machine, and how it treats what comes next. */
export interface LiqpayStandIn extends ProviderStandIn {
  /** What becomes of a charge by token; `checked`: it is looked at for fraud, until `pay`. */
  card: 'good' | 'declined' | 'asks_3ds' | 'checked'
  /** The shop has too little money at LiqPay: refunds wait, until `completeRefunds`. */
  isShort: boolean
}

/** A payment form or a charge by token. LiqPay knows of a form once its payer has tried to pay. */
interface Order {
  readonly id: string
  readonly data: Data
  readonly refunds: { readonly amount: bigint; status: 'paid' | 'pending' }[]
  status: 'opened' | 'success' | 'failure' | '3ds_verify' | 'wait_secure'
  paymentId: number
  errCode: string
}

interface State {
  readonly shop: Shop
  readonly orders: Map<string, Order>
  readonly faults: string[]
  /** Orders whose form is taken no more. */
  readonly expired: Set<string>
  card: LiqpayStandIn['card']
  isShort: boolean
  lastPaymentId: number
  declineCode: string | undefined
}

/** Starts LiqPay's checkout and API. An expired form still takes what its payer had begun. */
export async function startLiqpay(account = 1): Promise<LiqpayStandIn> {
  const state: State = {
    shop: shopOf(account),
    orders: new Map(),
    faults: [],
    expired: new Set(),
    card: 'good',
    isShort: false,
    lastPaymentId: 7310094424,
    declineCode: undefined,
  }
  const server = await startProvider({
    understand: (request) => understand(state, request),
    faults: state.faults,
  })
  const find = (id: string) => {
    const order = state.orders.get(id)
    if (order === undefined) throw new Error(`nobody posted a payment form for ${id}`)
    return order
  }
  const decide = (id: string, status: Order['status']) => {
    const order = find(id)
    if (order.status === 'success') throw new Error(`${id} is paid already`)
    if (order.status === 'opened' || order.status === 'failure') order.paymentId = nextId(state)
    order.status = status
  }
  const count = (id: string, action: string) =>
    state.orders.get(id)?.data.action === action ? 1 : 0
  return {
    ...server,
    gateway: liqpay,
    config: {
      public_key: state.shop.publicKey,
      private_key: state.shop.privateKey,
      api_base: server.base,
    },
    get down() {
      return server.down
    },
    set down(down) {
      server.down = down
    },
    get card() {
      return state.card
    },
    set card(card) {
      state.card = card
    },
    get isShort() {
      return state.isShort
    },
    set isShort(isShort) {
      state.isShort = isShort
    },
    pay: (id) => decide(id, 'success'),
    decline: (id) => decide(id, 'failure'),
    declineCharges: (code) => {
      state.declineCode = code
    },
    expire: (id) => void state.expired.add(id),
    refundByHand: (id, amount) => void find(id).refunds.push({ amount, status: 'paid' }),
    completeRefunds: (id) => {
      for (const refund of find(id).refunds) refund.status = 'paid'
    },
    refunds: (id): readonly MadeRefund[] => find(id).refunds.map((refund) => ({ ...refund })),
    charges: (id) => count(id, 'paytoken'),
    checkouts: (id) => count(id, 'pay'),
    paymentCallback: (id) => signed(find(id), state.shop),
    refundCallback: (id) => signed(find(id), state.shop),
  }
}

function nextId(state: State): number {
  state.lastPaymentId += 1
  return state.lastPaymentId
}

const askings: Readonly<Record<string, Asking>> = {
  status: 'poll',
  refund: 'refund',
  paytoken: 'charge',
}

function understand(state: State, request: AskedRequest): Understood | undefined {
  const isForm = request.target === '/api/3/checkout'
  if (!isForm && request.target !== '/api/request') {
    state.faults.push(`${request.method} ${request.target} is no address of LiqPay`)
    return undefined
  }
  const read = readRequest(request, isForm, state.shop)
  if (!read.ok) {
    state.faults.push(...read.faults)
    const refusal = isForm ? badPage : sayNo(read.code)
    const asking = isForm ? 'checkout' : (askings[read.action] ?? 'poll')
    return { asking, perform: () => refusal, refusal }
  }
  const { data } = read
  if (isForm) {
    const isOver = state.expired.has(String(data.order_id))
    const perform = () => (isOver ? badPage : openForm(state, data))
    return { asking: 'checkout', perform, refusal: badPage }
  }
  return {
    asking: askings[data.action] ?? 'poll',
    perform: () => answerTo(state, data),
    wrong: () => anotherOrder(state, data),
    refusal: sayNo(refusals[data.action] ?? 'err_api_action'),
  }
}

const refusals: Readonly<Record<string, string>> = {
  status: 'err_access',
  refund: 'payment_err_status',
  paytoken: 'err_no_card_token',
}

function openForm(state: State, data: Data): StandInReply {
  const known = state.orders.get(String(data.order_id))
  if (known === undefined) state.orders.set(String(data.order_id), newOrder(data))
  else if (!sameJson(known.data, data)) state.faults.push(`${known.id} was posted with other data`)
  return page
}

function newOrder(data: Data): Order {
  return {
    id: String(data.order_id),
    data,
    refunds: [],
    status: 'opened',
    paymentId: 0,
    errCode: 'limit',
  }
}

const sameJson = (one: Data, other: Data) => {
  const text = (data: Data) =>
    JSON.stringify(data, (_key, value: unknown) =>
      isAmount(value) ? String(value.kopiykas) : value,
    )
  return text(one) === text(other)
}

function answerTo(state: State, data: Data): StandInReply {
  if (data.action === 'paytoken') return charge(state, data)
  const order = state.orders.get(String(data.order_id))
  if (order === undefined || order.status === 'opened') return sayNo('payment_not_found')
  return data.action === 'status'
    ? ok(statement(order, state.shop))
    : refund(state, { order, data })
}

const outcomesOfCards = {
  good: 'success',
  declined: 'failure',
  asks_3ds: '3ds_verify',
  checked: 'wait_secure',
} as const

function charge(state: State, data: Data): StandInReply {
  const id = String(data.order_id)
  if (state.orders.has(id)) {
    state.faults.push(`the order ${id} is charged again`)
    return sayNo('order_id_duplicate')
  }
  const order = newOrder(data)
  order.paymentId = nextId(state)
  order.status = state.declineCode === undefined ? outcomesOfCards[state.card] : 'failure'
  order.errCode = state.declineCode ?? order.errCode
  state.orders.set(id, order)
  return ok(statement(order, state.shop))
}

function refund(
  state: State,
  { order, data }: { readonly order: Order; readonly data: Data },
): StandInReply {
  const amount = isAmount(data.amount) ? data.amount.kopiykas : 0n
  if (order.status !== 'success') return sayNo('payment_err_status')
  const left = amountOf(order) - sum(order.refunds)
  if (left === 0n) return sayNo('payment_err_status')
  if (amount > left) return sayNo('err_amount_hold')
  order.refunds.push({ amount, status: state.isShort ? 'pending' : 'paid' })
  const fields = { action: 'refund', payment_id: order.paymentId }
  return state.isShort
    ? ok({ ...fields, status: 'success', wait_amount: true })
    : ok({ ...fields, status: 'reversed' })
}

function sum(refunds: Order['refunds']): bigint {
  return refunds.reduce((total, { amount }) => total + amount, 0n)
}

function amountOf({ data }: Order): bigint {
  return isAmount(data.amount) ? data.amount.kopiykas : 0n
}

/** How the order stands, in the words of the callback. */
function statement(order: Order, { publicKey }: Shop): Fields {
  const { id, data, paymentId, refunds } = order
  const amount = { kopiykas: amountOf(order) }
  const refunded = sum(refunds.filter(({ status }) => status === 'paid'))
  const isPaid = order.status === 'success'
  const waits = isPaid && refunds.some(({ status }) => status === 'pending')
  const paidStatus = refunded > 0n ? 'reversed' : 'success'
  return {
    payment_id: paymentId,
    action: data.action,
    status: isPaid ? paidStatus : order.status,
    version: 3,
    type: 'buy',
    paytype: 'card',
    public_key: publicKey,
    order_id: id,
    liqpay_order_id: `ST${paymentId}`,
    description: data.description,
    sender_card_mask2: '424242*42',
    sender_card_type: 'visa',
    amount,
    currency: data.currency,
    amount_debit: amount,
    currency_debit: data.currency,
    create_date: 1763640000000,
    end_date: 1763640060000,
    transaction_id: paymentId,
    ...(refunded > 0n && { refund_amount: { kopiykas: refunded } }),
    ...(waits && { wait_reserve_status: true }),
    ...(isPaid && data.recurringbytoken === '1' && { card_token: `CARD${paymentId}` }),
    ...(order.status === 'failure' && {
      err_code: order.errCode,
      err_description: 'The limit is reached',
    }),
    ...(order.status === '3ds_verify' && {
      redirect_to: `https://www.liqpay.ua/api/3ds/request/${paymentId}`,
    }),
  }
}

function anotherOrder(state: State, data: Data): StandInReply {
  const own = state.orders.get(String(data.order_id)) ?? newOrder(data)
  const id = '0198f0aa-0000-7000-8000-0000000000ff'
  const other = { ...own, id, paymentId: nextId(state), status: 'success' } as const
  if (data.action !== 'refund') return ok(statement(other, state.shop))
  return ok({ action: 'refund', payment_id: other.paymentId, order_id: id, status: 'reversed' })
}

const ok = (fields: Fields): StandInReply => ({ body: jsonOf({ result: 'ok', ...fields }) })

const sayNo = (code: string): StandInReply => ({
  body: { result: 'error', status: 'error', err_code: code, err_description: `It is ${code}` },
})

const page: StandInReply = { headers: { 'content-type': 'text/html' }, body: '<p>Pay here</p>' }
const badPage: StandInReply = { ...page, status: 400, body: '<p>Wrong request</p>' }

function signed(order: Order, shop: Shop): SignedCallback {
  if (order.status === 'opened') throw new Error(`nobody has tried to pay ${order.id}`)
  const data = Buffer.from(jsonOf(statement(order, shop))).toString('base64')
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ data, signature: signatureOf(data, shop) }).toString(),
  }
}
