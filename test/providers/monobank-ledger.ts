/** A refund, as the bank lists it. */
export interface Cancel {
  status: 'processing' | 'success' | 'failure'
  readonly amount: number
  readonly ccy: number
  readonly createdDate: string
  modifiedDate: string
  readonly approvalCode: string
  readonly rrn: string
  readonly extRef?: string
}

/** What an attempt to pay came to. */
export type Attempt = 'processing' | 'success' | 'failure'

export interface Invoice {
  readonly invoiceId: string
  readonly kind: 'checkout' | 'charge'
  readonly amount: number
  readonly ccy: number
  readonly reference: string
  readonly destination: string
  /** There where the card is to be saved. */
  readonly walletId: string | undefined
  readonly createdDate: string
  modifiedDate: string
  status: Attempt | 'created' | 'hold' | 'reversed' | 'expired'
  errCode: string
  /** The last one; the statement lists no invoice without any. */
  attempt: Attempt | undefined
  readonly cancelList: Cancel[]
}

/** What is asked of the bank with a new invoice or a charge. */
export interface Order {
  readonly amount: number
  readonly ccy: number
  readonly merchantPaymInfo: { readonly reference: string; readonly destination: string }
  readonly saveCardData?: { readonly walletId: string }
}

/** All invoices of a merchant, and the tokens of the cards that he may charge. */
export interface Ledger {
  readonly invoices: Invoice[]
  readonly cards: Set<string>
  /** The bank's clock, as it writes the time. */
  date(): string
  /** Another one each time. */
  number(): string
}

export function createLedger(now: () => Date): Ledger {
  let count = 0
  return {
    invoices: [],
    cards: new Set(),
    date: () =>
      now()
        .toISOString()
        .replace(/\.\d+Z$/, 'Z'),
    number: () => String((count += 1)).padStart(8, '0'),
  }
}

export function findInvoice(ledger: Ledger, invoiceId: string): Invoice | undefined {
  return ledger.invoices.find((invoice) => invoice.invoiceId === invoiceId)
}

/** The last one that was made for a payment. */
export function invoiceOf(ledger: Ledger, paymentId: string): Invoice {
  const found = ledger.invoices.findLast(({ reference }) => reference === paymentId)
  if (found === undefined) throw new Error(`the bank has no invoice of payment ${paymentId}`)
  return found
}

export function makeInvoice(ledger: Ledger, order: Order, kind: Invoice['kind']): Invoice {
  const { amount, ccy, merchantPaymInfo, saveCardData } = order
  const { reference, destination } = merchantPaymInfo
  const date = ledger.date()
  const invoice: Invoice = {
    invoiceId: `p2_${ledger.number()}`,
    kind,
    amount,
    ccy,
    reference,
    destination,
    walletId: saveCardData?.walletId,
    createdDate: date,
    modifiedDate: date,
    status: 'created',
    errCode: '59',
    attempt: undefined,
    cancelList: [],
  }
  ledger.invoices.push(invoice)
  return invoice
}

export function move(ledger: Ledger, invoice: Invoice, status: Invoice['status']): void {
  invoice.status = status
  invoice.modifiedDate = ledger.date()
}

export function tryToPay(ledger: Ledger, invoice: Invoice, attempt: Attempt): void {
  if (wasPaid(invoice)) throw new Error(`invoice ${invoice.invoiceId} is paid already`)
  invoice.attempt = attempt
  move(ledger, invoice, attempt)
  if (attempt === 'success' && invoice.walletId !== undefined) ledger.cards.add(cardOf(invoice))
}

export function wasPaid({ status }: Invoice): boolean {
  return status === 'success' || status === 'reversed'
}

export function giveBack(
  ledger: Ledger,
  invoice: Invoice,
  { status, amount, extRef }: Pick<Cancel, 'status' | 'amount' | 'extRef'>,
): Cancel {
  const date = ledger.date()
  const cancel: Cancel = {
    status,
    amount,
    ccy: invoice.ccy,
    createdDate: date,
    modifiedDate: date,
    approvalCode: ledger.number(),
    rrn: ledger.number(),
    ...(extRef !== undefined && { extRef }),
  }
  invoice.cancelList.push(cancel)
  settleCancels(ledger, invoice)
  return cancel
}

export function completeCancels(ledger: Ledger, invoice: Invoice, status: Attempt): void {
  for (const cancel of invoice.cancelList.filter((one) => one.status === 'processing')) {
    cancel.status = status
    cancel.modifiedDate = ledger.date()
  }
  settleCancels(ledger, invoice)
}

function settleCancels(ledger: Ledger, invoice: Invoice): void {
  move(ledger, invoice, leftOf(invoice) === 0 ? 'reversed' : invoice.status)
}

/** What has not gone back, and is not about to. */
export function refundable({ amount, cancelList }: Invoice): number {
  return amount - sumOf(cancelList.filter(({ status }) => status !== 'failure'))
}

function leftOf({ amount, cancelList }: Invoice): number {
  return amount - sumOf(cancelList.filter(({ status }) => status === 'success'))
}

function sumOf(cancels: readonly Cancel[]): number {
  return cancels.reduce((sum, { amount }) => sum + amount, 0)
}

/** What the status query answers and a callback carries. */
export function reportOf(invoice: Invoice): object {
  const { invoiceId, status, amount, ccy, createdDate, modifiedDate } = invoice
  const { reference, destination, attempt, walletId, cancelList, errCode } = invoice
  const isDeclined = status === 'failure'
  return {
    invoiceId,
    status,
    ...(isDeclined && { failureReason: 'Недостатньо коштів', errCode }),
    amount,
    ccy,
    finalAmount: wasPaid(invoice) ? leftOf(invoice) : 0,
    createdDate,
    modifiedDate,
    reference,
    destination,
    ...(cancelList.length > 0 && { cancelList }),
    ...(attempt && { paymentInfo: { ...card, paymentSystem: 'visa', paymentMethod: 'pan' } }),
    ...(walletId !== undefined && {
      walletData: wasPaid(invoice)
        ? { cardToken: cardOf(invoice), walletId, status: 'created' }
        : { cardToken: '', walletId, status: 'new' },
    }),
  }
}

/** A line of the statement. It knows no other status than that of an attempt. */
export function entryOf(invoice: Invoice): object {
  const { invoiceId, attempt, modifiedDate, amount, ccy, reference, destination } = invoice
  const cancelList = invoice.cancelList
    .filter(({ status }) => status === 'success')
    .map((cancel) => ({
      amount: cancel.amount,
      ccy,
      date: cancel.modifiedDate,
      rrn: cancel.rrn,
      maskedPan: card.maskedPan,
    }))
  return {
    invoiceId,
    status: attempt,
    maskedPan: card.maskedPan,
    date: modifiedDate,
    paymentScheme: 'full',
    amount,
    profitAmount: amount,
    ccy,
    reference,
    destination,
    cancelList,
  }
}

const card = { maskedPan: '444403******1902', terminal: 'MI001088' } as const

function cardOf({ invoiceId }: Invoice): string {
  return `${invoiceId}CardToken`
}
