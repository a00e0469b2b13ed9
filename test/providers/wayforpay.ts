import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { wayforpay } from '../../src/gateways/wayforpay/index.ts'
import { formatMajorUnits, parseMajorUnits } from '../../src/kernel/money.ts'
import type { StandInReply } from '../support/stand-in.ts'
import {
  startProvider,
  type ProviderServer,
  type MadeRefund,
  type ProviderStandIn,
  type Understood,
} from './provider-stand-in.ts'
import {
  readRequest,
  shop,
  signatureOf,
  type ApiAsking,
  type ReadRequest,
} from './wayforpay-request.ts'

export interface WayforpayOptions {
  /** Refunds wait for the shop's balance (`RefundInProcessing`) until they are completed. */
  readonly balanceIsLow?: boolean
  /** Orders come without a `recToken`, as with a shop that may not save cards. */
  readonly savesNoCards?: boolean
  /** Every charge of a token is answered that the bank wants 3-D Secure. */
  readonly wants3ds?: boolean
}

interface Order {
  readonly reference: string
  readonly amount: bigint
  readonly currency: string
  readonly isCharge: boolean
  state: keyof typeof states
  /** Why it was declined, if not for the usual reason. */
  declineCode?: number
  refunds: readonly MadeRefund[]
}

const states = {
  open: ['Declined', 'Waiting for payment', 1151],
  paid: ['Approved', 'Ok', 1100],
  declined: ['Declined', 'Insufficient Funds', 1104],
  expired: ['Expired', 'Session expired', 1124],
  waits3ds: ['InProcessing', 'Wait 3ds data', 5100],
} as const
const refunded = ['Refunded', 'Ok', 1100] as const
const refunding = ['RefundInProcessing', 'Refund is in processing', 1138] as const
type Status = readonly [transactionStatus: string, reason: string, reasonCode: number]

const otherReference = '00000000-0000-4000-8000-00000000000f'

/** WayForPay's API: invoices, their status and removal, refunds, and charges of saved cards. */
export async function startWayforpay(options: WayforpayOptions = {}): Promise<ProviderStandIn> {
  const orders = new Map<string, Order>()
  const faults: string[] = []
  const habits: Habits = { declineCode: undefined }
  const server = await startProvider({
    understand: (asked) => {
      const read = readRequest(asked, (sentence) => faults.push(sentence))
      return read && understood(read, { orders, options, habits })
    },
    faults,
    sign: (fields) => signed(signedNames, fields as Fields),
  })
  const orderOf = (paymentId: string) => {
    const order = orders.get(paymentId)
    if (order === undefined) throw new Error(`WayForPay has no order ${paymentId}`)
    return order
  }
  const count = (paymentId: string, isMeant: (order: Order) => boolean) => {
    const order = orders.get(paymentId)
    return order !== undefined && isMeant(order) ? 1 : 0
  }
  const callback = (order: Order, status: Status) => asCallback(report(order, status, options))
  const own: Omit<ProviderStandIn, keyof ProviderServer> = {
    gateway: wayforpay,
    config: { merchant_account: shop.account, secret_key: shop.secretKey, api_base: server.base },
    pay: (paymentId) => void (orderOf(paymentId).state = 'paid'),
    decline: (paymentId) => void (orderOf(paymentId).state = 'declined'),
    declineCharges: (code) => {
      habits.declineCode = code === undefined ? undefined : Number(code)
    },
    expire: (paymentId) => void (orderOf(paymentId).state = 'expired'),
    refundByHand: (paymentId, amount) => addRefund(orderOf(paymentId), { amount, status: 'paid' }),
    completeRefunds: (paymentId) => {
      const order = orderOf(paymentId)
      order.refunds = order.refunds.map(({ amount }) => ({ amount, status: 'paid' }))
    },
    refunds: (paymentId) => orders.get(paymentId)?.refunds ?? [],
    charges: (paymentId) => count(paymentId, ({ isCharge, state }) => isCharge && state === 'paid'),
    checkouts: (paymentId) => count(paymentId, ({ isCharge }) => !isCharge),
    paymentCallback: (paymentId) => callback(orderOf(paymentId), standingOf(orderOf(paymentId))),
    refundCallback: (paymentId) => callback(orderOf(paymentId), statusOf(orderOf(paymentId))),
  }
  return Object.assign(server, own)
}

interface Habits {
  declineCode: number | undefined
}

interface Shop {
  readonly habits: Habits
  readonly orders: Map<string, Order>
  readonly options: WayforpayOptions
}

function understood(read: ReadRequest, here: Shop): Understood {
  const { asking, isSigned } = read
  const invalid = { perform: () => error(1113, 'Invalid signature') }
  const answers = isSigned ? answersTo(read, here) : invalid
  return { asking, refusal: error(1118, 'Merchant restriction'), ...answers }
}

type Answers = Pick<Understood, 'perform'> & Partial<Pick<Understood, 'wrong' | 'refusal'>>

function answersTo(read: ReadRequest, here: Shop): Answers {
  const { orders, options } = here
  const reference = read.text('orderReference')
  const order = orders.get(reference)
  const other = () =>
    json(report({ ...orderFrom(read, true), reference: otherReference }, states.paid))
  const answers: Readonly<Record<ApiAsking, Answers>> = {
    checkout: { perform: () => createInvoice(read, here) },
    close: { perform: () => removeInvoice(reference, here) },
    poll: {
      perform: () =>
        order ? json(report(order, statusOf(order), options)) : error(1127, 'Order not found'),
      wrong: other,
    },
    refund: {
      perform: () => makeRefund(read, here),
      wrong: () => json(refundReply(otherReference, refunded)),
      refusal: json(refundReply(reference, ['Declined', 'Refund not allowed', 1123])),
    },
    charge: {
      perform: () => chargeToken(read, here),
      wrong: other,
      refusal: error(1116, 'Token not found'),
    },
  }
  return answers[read.asking]
}

function orderFrom(read: ReadRequest, isCharge: boolean): Order {
  const currency = read.text('currency') || 'UAH'
  const amount = parseMajorUnits(read.text('amount'), currency) ?? 100n
  const reference = read.text('orderReference')
  return { reference, amount, currency, isCharge, state: 'open', refunds: [] }
}

function createInvoice(read: ReadRequest, { orders }: Shop): StandInReply {
  const order = orderFrom(read, false)
  if (orders.has(order.reference)) return error(1112, 'Duplicate Order ID', { invoiceUrl: null })
  orders.set(order.reference, order)
  const invoiceUrl = `https://secure.wayforpay.com/invoice/${order.reference.slice(0, 8)}`
  return json({ invoiceUrl, reason: 'Ok', reasonCode: 1100, qrCode: `${invoiceUrl}/qr` })
}

function removeInvoice(reference: string, { orders }: Shop): StandInReply {
  const order = orders.get(reference)
  if (order === undefined) return error(1127, 'Order not found')
  if (order.state !== 'open' && order.state !== 'declined') {
    return error(1126, 'Illegal order state')
  }
  // Who has the page open already can still be charged.
  order.state = 'expired'
  return json({ reason: 'Removed', reasonCode: 1100 })
}

function makeRefund(read: ReadRequest, { orders, options }: Shop): StandInReply {
  const reference = read.text('orderReference')
  const order = orders.get(reference)
  if (order === undefined) return error(1127, 'Order not found')
  const declined = (reason: string, code: number) =>
    json(refundReply(reference, ['Declined', reason, code]))
  if (order.state !== 'paid') return declined('Illegal order state', 1126)
  const { amount, currency } = orderFrom(read, false)
  if (currency !== order.currency) return declined('Invalid currency', 1110)
  const gone = order.refunds.reduce((sum, made) => sum + made.amount, 0n)
  if (gone + amount > order.amount) return declined('Refund limit excended', 1128)
  addRefund(order, { amount, status: options.balanceIsLow ? 'pending' : 'paid' })
  return json(refundReply(reference, options.balanceIsLow ? refunding : refunded))
}

function addRefund(order: Order, refund: MadeRefund): void {
  order.refunds = [...order.refunds, refund]
}

function chargeToken(read: ReadRequest, { orders, options, habits }: Shop): StandInReply {
  const order = orderFrom(read, true)
  if (!/^[0-9a-f-]{36}$/.test(read.text('recToken'))) return error(1116, 'Token not found')
  if (orders.has(order.reference)) return error(1112, 'Duplicate Order ID')
  order.state = options.wants3ds ? 'waits3ds' : 'paid'
  if (habits.declineCode !== undefined) {
    Object.assign(order, { state: 'declined', declineCode: habits.declineCode })
  }
  orders.set(order.reference, order)
  return json(report(order, standingOf(order), options))
}

function standingOf({ state, declineCode }: Order): Status {
  const [status, reason, code] = states[state]
  return state === 'declined' ? [status, reason, declineCode ?? code] : states[state]
}

function statusOf(order: Order): Status {
  const { refunds } = order
  if (refunds.length === 0) return standingOf(order)
  return refunds.some(({ status }) => status === 'pending') ? refunding : refunded
}

const signedNames = [
  'merchantAccount',
  'orderReference',
  'amount',
  'currency',
  'authCode',
  'cardPan',
  'transactionStatus',
  'reasonCode',
]

/** What callbacks and the replies of CHECK_STATUS and CHARGE have in common. */
function report(order: Order, status: Status, { savesNoCards }: WayforpayOptions = {}) {
  const [transactionStatus, reason, reasonCode] = status
  const { reference, amount, currency, state, refunds } = order
  const isPaid = state === 'paid'
  const back = refunds.filter((refund) => refund.status === 'paid')
  return signed(signedNames, {
    merchantAccount: shop.account,
    orderReference: reference,
    amount: majorUnits(amount, currency),
    currency,
    authCode: isPaid ? '417283' : '',
    email: null,
    createdDate: 1_795_175_900,
    processingDate: 1_795_175_990,
    cardPan: isPaid ? '53****1206' : '',
    cardType: isPaid ? 'MasterCard' : null,
    // Another UUID for each order, and always the same for one.
    recToken: isPaid && !savesNoCards ? reference.split('').toReversed().join('') : '',
    transactionStatus,
    reason,
    reasonCode,
    fee: 0,
    paymentSystem: 'card',
    refundAmount: majorUnits(
      back.reduce((sum, refund) => sum + refund.amount, 0n),
      currency,
    ),
  })
}

function refundReply(orderReference: string, [transactionStatus, reason, reasonCode]: Status) {
  return signed(['merchantAccount', 'orderReference', 'transactionStatus', 'reasonCode'], {
    merchantAccount: shop.account,
    orderReference,
    transactionStatus,
    reason,
    reasonCode,
  })
}

type Fields = Readonly<Record<string, string | number | null>>

function signed(names: readonly string[], fields: Fields): Fields {
  const texts = names.map((name) => String(fields[name] ?? ''))
  return { ...fields, merchantSignature: signatureOf(texts) }
}

/** At most fifteen digits: JSON writes the number as it was. */
function majorUnits(amount: bigint, currency: string): number {
  return Number(formatMajorUnits({ amount, currency }))
}

function json(fields: Fields): StandInReply {
  return { body: phpJson(fields) }
}

/** Errors are not signed, and come with status 200. */
function error(reasonCode: number, reason: string, more: Fields = {}): StandInReply {
  return json({ ...more, reason, reasonCode })
}

/** WayForPay calls the JSON of its callbacks a form; how much went back is not in them. */
function asCallback({ refundAmount: _unsaid, ...fields }: Fields): SignedCallback {
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: phpJson(fields),
  }
}

function phpJson(fields: Fields): string {
  return JSON.stringify(fields).replaceAll('/', String.raw`\/`)
}
