import {
  catalogue,
  isEventType,
  type CatalogueRow,
  type Subjects as Carried,
} from '../events/catalogue.ts'
import { disputeIdIn } from '../events/dedup-key.ts'
import { readEventData, type StoredData } from '../events/event-data.ts'
import { isFact, isSubject, subject } from '../kernel/event-shape.ts'
import { invoiceSnapshotOf } from '../wire/invoice.ts'
import { eventPeriodOf } from '../wire/subscription-snapshot.ts'
import type { LoadContext, SubjectIds, Subjects } from './load-subjects.ts'

/** An event, or a deferred one, as it is stored. */
export interface StoredEvent {
  readonly type: string
  readonly dedup_key: string
  readonly payment_id: string | null
  readonly payment_method_id: string | null
  readonly subscription_id: string | null
  readonly invoice_id: string | null
  readonly data: string | null
}

/** What an event says by itself, and what it is about. */
export interface EventAbout<Row = Pick<CatalogueRow, 'carries'>> {
  readonly row: Row
  readonly facts: StoredData
  readonly ids: SubjectIds
}

/** Throws for a type of a newer version, and for facts that are not as we write them. */
export function aboutOf(event: StoredEvent): EventAbout<CatalogueRow> {
  const { type } = event
  if (!isEventType(type)) throw new Error(`there is no event ${type}`)
  const row: CatalogueRow = catalogue[type]
  const facts = readEventData(type, storedIn(event))
  const ids = Object.entries(row.carries).flatMap(([name, field]) => {
    if (!isSubject(field)) return []
    return [[name, field.isStored ? facts[`${name}Id`] : idIn[name as keyof Carried](event)]]
  })
  return { row, facts, ids: Object.fromEntries(ids) as SubjectIds }
}

/** The same of an event of a newer version's type: what its row names, and all that it stores. */
export function aboutOfUnknown(event: StoredEvent): EventAbout {
  const names = ['payment', 'paymentMethod', 'subscription', 'invoice'] as const
  const named = names.filter((name) => idIn[name](event) !== null)
  return {
    row: { carries: Object.fromEntries(named.map((name) => [name, subject])) },
    facts: storedIn(event),
    ids: Object.fromEntries(named.map((name) => [name, idIn[name](event)])),
  }
}

function storedIn({ data }: StoredEvent): StoredData {
  return JSON.parse(data ?? '{}') as StoredData
}

/** The id of a subject that an event does not store, as its row says. */
const idIn: Readonly<Record<keyof Carried, (event: StoredEvent) => string | null>> = {
  // The payment of a document is what the document says that it is.
  payment: ({ payment_id: id, invoice_id: invoiceId }) => (invoiceId === null ? id : null),
  paymentMethod: ({ payment_method_id: id }) => id,
  dispute: ({ dedup_key: key }) => disputeIdIn(key),
  subscription: ({ subscription_id: id }) => id,
  // An event of a period stores its id.
  period: () => null,
  invoice: ({ invoice_id: id }) => id,
}

/**
 * What the event carries: what it stored, and its subjects as they stand. It is not asked whether the
 * event still holds. A subject that its row does not name is undefined. Throws where one is gone:
 * none is ever deleted.
 */
export function carriedBy(
  { row, facts, ids }: EventAbout,
  subjects: Subjects,
  context: Pick<LoadContext, 'payPageUrl'>,
): object {
  const values = Object.entries(row.carries).map(([name, field]) => {
    if (isFact(field)) return [name, facts[name]]
    if (!isSubject(field)) return [name, payUrlOf(ids, subjects, context)]
    const value = found[name as keyof Carried](ids, subjects)
    const id = ids[name as keyof Carried]
    if (value === undefined && typeof id === 'string') {
      throw new Error(`${name} ${id} of an event is gone`)
    }
    return [name, value ?? (field.isNullable ? null : undefined)]
  })
  return Object.fromEntries(values) as object
}

type Found = {
  readonly [Name in keyof Carried]: (
    ids: SubjectIds,
    subjects: Subjects,
  ) => Carried[Name] | undefined
}

const found: Found = {
  payment: (ids, { payments, invoices }) =>
    payments.get(ids.payment ?? invoices.get(ids.invoice ?? '')?.paymentId ?? ''),
  paymentMethod: (ids, { paymentMethods }) => paymentMethods.get(ids.paymentMethod ?? ''),
  dispute: (ids, { disputes }) => disputes.get(ids.dispute ?? ''),
  subscription: (ids, { subscriptions }) => subscriptions.get(ids.subscription ?? ''),
  period: (ids, { periods }) => {
    const period = periods.get(ids.period ?? '')
    return period && eventPeriodOf(period)
  },
  invoice: (ids, { invoices }) => {
    const invoice = invoices.get(ids.invoice ?? '')
    return invoice && invoiceSnapshotOf(invoice)
  },
}

/** Where a period can be paid: a page takes money only for what is still owed. */
function payUrlOf(
  { period, subscription }: SubjectIds,
  { periods }: Subjects,
  { payPageUrl }: Pick<LoadContext, 'payPageUrl'>,
): string | null {
  const isOpen = periods.get(period ?? '')?.state === 'open'
  return isOpen && typeof subscription === 'string' ? payPageUrl(subscription) : null
}
