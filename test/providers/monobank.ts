import { createPrivateKey, sign } from 'node:crypto'
import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { createMonobank } from '../../src/gateways/monobank/index.ts'
import { sampleKeys } from '../../src/gateways/monobank/samples/signing-key.ts'
import type { AskedRequest, StandInReply } from '../support/stand-in.ts'
import {
  completeCancels,
  createLedger,
  entryOf,
  findInvoice,
  giveBack,
  invoiceOf,
  makeInvoice,
  move,
  refundable,
  reportOf,
  tryToPay,
  wasPaid,
  type Cancel,
  type Invoice,
  type Ledger,
  type Order,
} from './monobank-ledger.ts'
import { envelopeFault, faultOf, inputOf, shapes, type Shape } from './monobank-requests.ts'
import {
  startProvider,
  type Asking,
  type ProviderStandIn,
  type Understood,
} from './provider-stand-in.ts'

export interface MonobankStandIn extends ProviderStandIn {
  /** What a refund is at first: `processing`, until it is told otherwise. */
  beginRefundsAs(status: Cancel['status']): void
  /** The bank does not do what it has taken on. */
  failRefunds(paymentId: string): void
  /** The payer has done his part, and the bank is still at it; or the amount is only blocked. */
  delay(paymentId: string, status: 'processing' | 'hold'): void
}

interface StandInOptions {
  /** The bank's clock. With one the statement keeps to the period that is asked for. */
  readonly now?: () => Date
  /** One word: each merchant has a token of its own, and here a key as well. */
  readonly account?: string
}

/**
 * The acquiring API of monobank. https://monobank.ua/api-docs/acquiring. Assumed, not documented:
 * that a removed invoice is `expired`, and the code of an invoice that cannot be removed.
 */
export async function startMonobank(options: StandInOptions = {}): Promise<MonobankStandIn> {
  const bank = openBank(options)
  const faults: string[] = []
  const provider = await startProvider({
    understand: (request) => understand(request, bank, faults),
    faults,
  })
  const { ledger } = bank
  const of = (paymentId: string) => invoiceOf(ledger, paymentId)
  const countOf = (paymentId: string, kind: Invoice['kind']) =>
    ledger.invoices.filter((one) => one.reference === paymentId && one.kind === kind).length
  const { token, keys } = bank
  return {
    ...provider,
    get down() {
      return provider.down
    },
    set down(down) {
      provider.down = down
    },
    gateway: createMonobank(),
    namesNothing: ['close', 'remove'],
    config: { token, public_key: keys.publicKey, api_base: provider.base },
    beginRefundsAs: (status) => {
      bank.refundsBegin = status
    },
    failRefunds: (id) => completeCancels(ledger, of(id), 'failure'),
    delay: (id, status) => move(ledger, of(id), status),
    pay: (id) => tryToPay(ledger, of(id), 'success'),
    decline: (id) => tryToPay(ledger, of(id), 'failure'),
    declineCharges: (code) => {
      bank.declineCode = code
    },
    expire: (id) => move(ledger, of(id), 'expired'),
    refundByHand: (id, amount) => {
      giveBack(ledger, of(id), { status: 'success', amount: Number(amount) })
    },
    completeRefunds: (id) => completeCancels(ledger, of(id), 'success'),
    refunds: (id) => of(id).cancelList.map(toRefund),
    charges: (id) => countOf(id, 'charge'),
    checkouts: (id) => countOf(id, 'checkout'),
    paymentCallback: (id) => signed(of(id), bank),
    refundCallback: (id) => signed(of(id), bank),
  }
}

interface Bank {
  readonly ledger: Ledger
  readonly token: string
  readonly keys: ReturnType<typeof sampleKeys>
  readonly keepsToPeriod: boolean
  refundsBegin: Cancel['status']
  declineCode: string | undefined
}

function openBank({ now, account = '' }: StandInOptions): Bank {
  return {
    ledger: createLedger(now ?? (() => new Date())),
    token: `uTokenOfTheMerchantAtTheStandIn${account}`,
    keys: sampleKeys(`the bank of the stand-in${account}`),
    keepsToPeriod: now !== undefined,
    refundsBegin: 'processing',
    declineCode: undefined,
  }
}

function toRefund({ amount, status }: Cancel) {
  return { amount: BigInt(amount), status: refundWords[status] }
}

const refundWords = { processing: 'pending', success: 'paid', failure: 'failed' } as const

/** As the bank reports an invoice, with its X-Sign. */
function signed(invoice: Invoice, { keys }: Bank): SignedCallback {
  const body = JSON.stringify(reportOf(invoice))
  const key = createPrivateKey(Buffer.from(keys.signingKey, 'base64'))
  const signature = sign('sha256', Buffer.from(body), key).toString('base64')
  return { headers: { 'content-type': 'application/json', 'x-sign': signature }, body }
}

function understand(request: AskedRequest, bank: Bank, faults: string[]): Understood | undefined {
  const path = new URL(request.target, 'http://bank').pathname
  const called = `${request.method} ${path}`
  const endpoint = Object.hasOwn(endpoints, called) ? endpoints[called] : undefined
  if (endpoint === undefined) {
    faults.push(`${called}: there is no such endpoint`)
    return undefined
  }
  const { asking, shape, perform, wrong, refusal } = endpoint
  const input = inputOf(request)
  const fault = envelopeFault(request) ?? faultOf(input, shape)
  if (fault !== undefined) faults.push(`${called}: ${fault}`)
  const answer = (): StandInReply => {
    // During a rotation a token that does not count is nobody's fault.
    if (request.headers['x-token'] !== bank.token) return no(403, 'FORBIDDEN')
    return fault === undefined ? perform(input as never, bank) : no(400, 'BAD_REQUEST')
  }
  return {
    asking,
    refusal,
    perform: answer,
    ...(wrong && { wrong: () => wrong(input as never, bank) }),
  }
}

interface Endpoint {
  readonly asking: Asking
  readonly shape: Shape
  /** The input has the shape. */
  perform(input: never, bank: Bank): StandInReply
  /** The answer about another payment. */
  wrong?(input: never, bank: Bank): StandInReply
  readonly refusal: StandInReply
}

/** Errors as the bank words them. */
function no(status: number, errCode: string): StandInReply {
  return { status, body: { errCode, errText: 'informational only' } }
}

type ById = Pick<Invoice, 'invoiceId'>

const endpoints: Readonly<Record<string, Endpoint>> = {
  'POST /api/merchant/invoice/create': {
    asking: 'checkout',
    shape: shapes.create,
    perform: create,
    refusal: no(400, 'INVALID_MERCHANT_PAYM_INFO'),
  },
  'GET /api/merchant/invoice/status': {
    asking: 'poll',
    shape: shapes.invoice,
    perform: ({ invoiceId }: ById, { ledger }) => {
      const invoice = findInvoice(ledger, invoiceId)
      return invoice === undefined ? no(404, 'NOT_FOUND') : { body: reportOf(invoice) }
    },
    wrong: ({ invoiceId }: ById, { ledger }) => {
      const invoice = findInvoice(ledger, invoiceId)
      const report = invoice === undefined ? {} : reportOf(invoice)
      return { body: { ...report, ...stranger, status: 'success' } }
    },
    refusal: no(403, 'FORBIDDEN'),
  },
  'GET /api/merchant/statement': {
    asking: 'poll',
    shape: shapes.period,
    perform: statement,
    wrong: () => ({ body: { list: [stranger] } }),
    refusal: no(403, 'FORBIDDEN'),
  },
  'POST /api/merchant/invoice/cancel': {
    asking: 'refund',
    shape: shapes.cancel,
    perform: cancel,
    refusal: no(500, 'CANCEL_NOT_AVAILABLE'),
  },
  'POST /api/merchant/invoice/remove': {
    asking: 'close',
    shape: shapes.invoice,
    perform: remove,
    refusal: no(400, 'INVOICE_ALREADY_USED'),
  },
  'POST /api/merchant/wallet/payment': {
    asking: 'charge',
    shape: shapes.charge,
    perform: charge,
    // It names no payment, so only the amount gives it away.
    wrong: ({ ccy }: Order) => {
      const { invoiceId } = stranger
      return { body: { invoiceId, status: 'success', amount: 1, ccy } }
    },
    refusal: no(400, 'TOKEN_NOT_FOUND'),
  },
  'DELETE /api/merchant/wallet/card': {
    asking: 'remove',
    shape: shapes.card,
    perform: ({ cardToken }: { readonly cardToken: string }, { ledger }) =>
      ledger.cards.delete(cardToken) ? { body: '' } : no(400, 'TOKEN_NOT_FOUND'),
    refusal: no(403, 'FORBIDDEN'),
  },
  'GET /api/merchant/pubkey': {
    asking: 'look_up',
    shape: shapes.nothing,
    perform: (_nothing, { keys }) => ({ body: { key: keys.publicKey } }),
    refusal: no(403, 'FORBIDDEN'),
  },
}

const stranger = {
  invoiceId: 'p2_stranger',
  reference: '0198f0aa-ffff-7fff-8fff-ffffffffffff',
} as const

function create(order: Order, { ledger }: Bank): StandInReply {
  const { invoiceId } = makeInvoice(ledger, order, 'checkout')
  return { body: { invoiceId, pageUrl: `https://pay.mbnk.biz/${invoiceId}` } }
}

function statement(
  { from, to }: { readonly from: string; readonly to: string },
  { ledger, keepsToPeriod }: Bank,
): StandInReply {
  const isAsked = ({ modifiedDate }: Invoice) => {
    const second = Date.parse(modifiedDate) / 1000
    return !keepsToPeriod || (Number(from) <= second && second <= Number(to))
  }
  const tried = ledger.invoices.filter((one) => one.attempt !== undefined && isAsked(one))
  return { body: { list: tried.map(entryOf).toReversed() } }
}

function cancel(
  { invoiceId, amount, extRef }: ById & Pick<Cancel, 'amount' | 'extRef'>,
  { ledger, refundsBegin }: Bank,
): StandInReply {
  const invoice = findInvoice(ledger, invoiceId)
  if (invoice === undefined) return no(404, 'NOT_FOUND')
  if (!wasPaid(invoice)) return no(500, 'CANCEL_NOT_AVAILABLE')
  if (amount > refundable(invoice)) return no(400, 'WRONG_CANCEL_AMOUNT')
  const reference = extRef === undefined ? {} : { extRef }
  const made = giveBack(ledger, invoice, { status: refundsBegin, amount, ...reference })
  const { status, createdDate, modifiedDate } = made
  return { body: { status, createdDate, modifiedDate } }
}

function remove({ invoiceId }: ById, { ledger }: Bank): StandInReply {
  const invoice = findInvoice(ledger, invoiceId)
  if (invoice === undefined) return no(404, 'NOT_FOUND')
  if (!/^(?:created|failure)$/.test(invoice.status)) return no(400, 'INVOICE_ALREADY_USED')
  move(ledger, invoice, 'expired')
  return { body: '' }
}

/** A merchant's charge is done at once; one that the payer asks for he confirms himself. */
function charge(
  order: Order & { readonly cardToken: string; readonly initiationKind: 'client' | 'merchant' },
  { ledger, declineCode }: Bank,
): StandInReply {
  if (!ledger.cards.has(order.cardToken)) return no(400, 'TOKEN_NOT_FOUND')
  const invoice = makeInvoice(ledger, order, 'charge')
  const asksPayer = order.initiationKind === 'client' && declineCode === undefined
  if (declineCode !== undefined) Object.assign(invoice, { errCode: declineCode })
  const declines = declineCode !== undefined
  tryToPay(ledger, invoice, declines ? 'failure' : asksPayer ? 'processing' : 'success')
  const { invoiceId, status, amount, ccy, createdDate, modifiedDate } = invoice
  return {
    body: {
      invoiceId,
      ...(asksPayer && { tdsUrl: `https://3ds.mbnk.biz/${invoiceId}` }),
      status,
      ...(declines && { failureReason: 'Недостатньо коштів' }),
      amount,
      ccy,
      createdDate,
      modifiedDate,
    },
  }
}
