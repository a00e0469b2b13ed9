import { z } from 'zod'
import { catalogueRow, type EventType, type Subjects } from '../events/catalogue.ts'
import { isFact, isSubject, type Carried } from '../kernel/event-shape.ts'
import { snakeCase } from '../kernel/field-names.ts'
import { disputeSchema, disputeView } from './dispute.ts'
import { invoiceSchema, invoiceView } from './invoice.ts'
import { fieldSchema } from './noun.ts'
import { paymentMethodSchema, paymentMethodView } from './payment-method.ts'
import { paymentSchema, paymentView } from './payment.ts'
import {
  periodSchema,
  periodView,
  subscriptionSnapshotSchema,
  subscriptionSnapshotView,
} from './subscription-snapshot.ts'

/** Each subject of events in JSON: its schema, and what writes it. */
const subjects: {
  readonly [Name in keyof Subjects]: {
    readonly schema: z.ZodType
    readonly view: (subject: Subjects[Name]) => unknown
  }
} = {
  payment: { schema: paymentSchema, view: paymentView },
  paymentMethod: { schema: paymentMethodSchema, view: paymentMethodView },
  dispute: { schema: disputeSchema, view: disputeView },
  subscription: { schema: subscriptionSnapshotSchema, view: subscriptionSnapshotView },
  period: { schema: periodSchema, view: periodView },
  invoice: { schema: invoiceSchema, view: invoiceView },
}

function isSubjectName(name: string): name is keyof Subjects {
  return Object.hasOwn(subjects, name)
}

/** What an event of a type carries as JSON: its facts, and its subjects as they stand now. */
export function eventDataSchema(type: EventType) {
  const carries: Carried = catalogueRow(type)?.carries ?? {}
  const fields = Object.entries(carries).map(([name, field]) => [
    snakeCase(name),
    schemaOf(name, field),
  ])
  return z.strictObject(Object.fromEntries(fields) as Readonly<Record<string, z.ZodType>>)
}

function schemaOf(name: string, field: Carried[string]): z.ZodType {
  if (!isSubject(field)) return fieldSchema(isFact(field) ? field : field.follows)
  if (!isSubjectName(name)) throw new Error(`there is no subject ${name}`)
  const { schema } = subjects[name]
  return field.isNullable ? schema.nullable() : schema
}

/** What an event carries, in JSON. */
export function eventDataView(carried: object): Record<string, unknown> {
  return viewed(carried, (name, value) => {
    const isSubjectOf = isSubjectName(name) && value !== null && value !== undefined
    return isSubjectOf ? subjects[name].view(value as never) : factView(value)
  })
}

function viewed(
  carried: object,
  view: (name: string, value: unknown) => unknown,
): Record<string, unknown> {
  const data = Object.entries(carried).map(([name, value]) => [snakeCase(name), view(name, value)])
  return Object.fromEntries(data) as Record<string, unknown>
}

function factView(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? value : viewed(value, (_name, part) => factView(part))
  }
  // A count: none exceeds what JSON can say.
  return typeof value === 'bigint' ? Number(value) : value
}
