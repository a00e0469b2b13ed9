import type { Transaction } from '../database/connect.ts'
import type { OpenDatabase } from '../database/open-database.ts'
import { findPayment, listPayments } from '../database/payments.ts'
import { isUuid, newUuid } from '../kernel/ids.ts'
import type { Payment } from '../payments/payment.ts'
import { requeueCallsAwaiting } from '../processing/awaiting.ts'
import {
  createPayment,
  type CreatePaymentInput,
  type PaymentCreation,
} from '../processing/create-payment.ts'
import type { AfterCommit } from '../processing/tell-listeners.ts'
import type { BoundBilling } from '../processing/listener.ts'
import type { QueueConnection } from '../queue/queue.ts'
import type { Settings } from './settings.ts'

function creationOf(settings: Settings): PaymentCreation {
  return {
    gateways: settings.gateways,
    newId: newUuid,
    checkoutUrl: (name, paymentId) => {
      // Only a gateway without a provider behind it has its checkout here.
      const own = settings.gateways.find(name)?.gateway.verification === 'none'
      return own ? `${settings.origin}/billing/${name}/checkout/${paymentId}` : null
    },
  }
}

/** Creates a payment; callbacks that came before it are looked at again. */
export async function createAndSettle(
  { open, queue }: { readonly open: OpenDatabase; readonly queue: QueueConnection },
  { settings, input }: { readonly settings: Settings; readonly input: CreatePaymentInput },
): Promise<Payment> {
  const { db } = open.database
  const payment = await createPayment(db, creationOf(settings), input)
  await settleEarlyCalls(open, queue, payment).catch((error: unknown) =>
    settings.log.warn({ err: error }, 'could not look for early callbacks; the sweeper will'),
  )
  return payment
}

async function settleEarlyCalls(
  open: Pick<OpenDatabase, 'database'>,
  queue: QueueConnection,
  payment: Payment,
): Promise<void> {
  const calls = await requeueCallsAwaiting(open.database.db, payment)
  if (calls.length > 0) await queue.announce(calls)
}

/** The operations that a listener may use inside its transaction. */
export function bindBilling(
  { db }: Transaction,
  bound: {
    readonly afterCommit: AfterCommit
    readonly settings: Settings
    readonly queue: QueueConnection
    readonly open: OpenDatabase
  },
): BoundBilling {
  const { settings, queue, open } = bound
  return {
    payments: {
      create: async (input) => {
        const payment = await createPayment(db, creationOf(settings), input)
        bound.afterCommit(() => settleEarlyCalls(open, queue, payment))
        return payment
      },
      get: async (id) => (isUuid(id) ? findPayment(db, id) : undefined),
      list: (query = {}) => listPayments(db, query),
    },
  }
}
