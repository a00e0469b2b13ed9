/**
 * The entrances of processing, as the tests of this room use them. Whoever changes an entrance
 * changes this file, and none of the tests.
 */
import { subscriptionContext } from '../../support/subscription-context.ts'
import type { Registry } from '../../../src/gateways/registry.ts'
import type { Database, Transaction } from '../../../src/database/connect.ts'
import type { Cipher } from '../../../src/kernel/encryption.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import type { Log } from '../../../src/kernel/log.ts'
import type { BoundBilling } from '../../../src/listeners/listener.ts'
import type { ListenerRegistry } from '../../../src/listeners/listeners.ts'
import type { Applied } from '../../../src/outcomes/applied.ts'
import type { Outcome } from '../../../src/payments/outcome.ts'
import type { Payment } from '../../../src/payments/payment.ts'
import { applyReport, applyReports } from '../../../src/processing/apply-report.ts'
import {
  dispatchBrowserEvent,
  type BrowserEventType,
} from '../../../src/processing/browser-event.ts'
import { createNumbers } from '../../../src/numbers/slots.ts'
import type { ProcessingContext } from '../../../src/processing/context.ts'
import { dispatchDeferred, type DeferredEnd } from '../../../src/processing/deferred-events.ts'
import { createDeliver } from '../../../src/processing/deliver.ts'
import type { CallEnd } from '../../../src/processing/end-calls.ts'
import { interpretCall } from '../../../src/processing/interpret-call.ts'
import { processCall, processInterpreted } from '../../../src/processing/process-calls.ts'
import { replayCall } from '../../../src/processing/replay-call.ts'
import type { LeasedCall } from '../../../src/queue/calls.ts'
import type { LeasedEvent } from '../../../src/queue/deferred-events.ts'
import type { LeasedDelivery } from '../../../src/queue/deliveries.ts'

/** What processing is given, under names of the tests' own. */
export interface Given {
  readonly database: Database
  readonly listeners: ListenerRegistry
  readonly gateways: Registry
  readonly log: Log
  readonly cipher: Cipher | undefined
  /** What all listeners of one call may take together. */
  readonly listenersMayTakeMs: number
  readonly random: () => number
  scrub(text: string): string
  bind(transaction: Transaction, afterCommit: (work: () => unknown) => void): BoundBilling
  /** Calls or deliveries wait. */
  wake(): void
  /** The database's, if left out. */
  readonly subscriptionTime?: () => Promise<Date>
}

/** What a source other than a callback says. */
export interface Stated {
  readonly gateway: string
  readonly outcomes: readonly Outcome[]
  readonly cause: 'poll' | 'refund' | 'operator'
  readonly queue: string
}

/** `left`: not begun, the call is to be processed by itself. */
export type BatchResult = CallEnd | 'left'

export interface Entrances {
  /** What those are given who begin processing by themselves: workers. */
  readonly processing: ProcessingContext
  processOne(call: LeasedCall): Promise<CallEnd>
  /** In one transaction; the results are in the order of the calls. */
  processBatch(calls: readonly LeasedCall[]): Promise<readonly BatchResult[]>
  report(stated: Stated): Promise<readonly Applied[]>
  /** In one transaction; what became of each. */
  reportTogether(all: readonly Stated[]): Promise<readonly PromiseSettledResult<unknown>[]>
  deliver(leased: LeasedDelivery): Promise<void>
  dispatch(leased: LeasedEvent): Promise<void>
  dispatchTogether(events: readonly LeasedEvent[]): Promise<readonly DeferredEnd[]>
  browserEvent(type: BrowserEventType, payment: Payment): Promise<boolean>
  replay(callId: string): Promise<void>
  /** Waits until all work after commits has ended; how much of it is said to go on then. */
  afterCommits(): Promise<number>
}

export function entrancesOf({ listenersMayTakeMs, ...given }: Given): Entrances {
  const processing: ProcessingContext = {
    ...subscriptionContext,
    ...given,
    newId: newUuid,
    numbers: createNumbers(),
    production: false,
    listenerBudget: listenersMayTakeMs,
    underWay: new Set(),
    payPageUrl: (id) => `https://pay.example/billing/subscriptions/${id}/pay`,
    invoicing: { seller: null, series: 'INV-{year}', dueDays: 0, timeZone: 'UTC' },
    onEvents: () => {},
    invoiceUrl: (id) => `https://pay.example/billing/invoices/${id}`,
  }
  return {
    processing,
    processOne: (call) => processCall(call, processing),
    processBatch: async (calls) => {
      const batch = await Promise.all(
        calls.map(async (call) => ({ call, outcomes: await interpretCall(call, processing) })),
      )
      return processInterpreted(batch, processing)
    },
    report: (stated) => applyReport(stated, processing),
    reportTogether: (all) => applyReports(all, processing),
    deliver: createDeliver(processing),
    dispatch: async (leased) => {
      await dispatchDeferred([leased], processing)
    },
    dispatchTogether: (events) => dispatchDeferred(events, processing),
    browserEvent: (type, payment) =>
      dispatchBrowserEvent(type, payment, { ...processing, queue: 'browsing' }),
    replay: (callId) => replayCall(processing.database.db, callId),
    afterCommits: async () => {
      await Promise.all(processing.underWay)
      return processing.underWay.size
    },
  }
}
