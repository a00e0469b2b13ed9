import { z } from 'zod'
import { catalogueRow, type EventType, type Subjects } from '../events/catalogue.ts'
import { formOf, isSubject, type Fields } from '../kernel/event-shape.ts'
import { assertNever } from '../kernel/errors.ts'
import type { FactForm } from '../kernel/facts.ts'
import { snakeCase } from '../kernel/field-names.ts'
import { disputeSchema, disputeView } from './dispute.ts'
import { amount, id, time } from './fields.ts'
import { invoiceSchema, invoiceView } from './invoice.ts'
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
  const carries: Fields = catalogueRow(type)?.carries ?? {}
  const fields = Object.entries(carries).map(([name, field]) => [
    snakeCase(name),
    schemaOf(name, field),
  ])
  return z.strictObject(Object.fromEntries(fields) as Readonly<Record<string, z.ZodType>>)
}

function schemaOf(name: string, field: Fields[string]): z.ZodType {
  if (!isSubject(field)) return factSchema(formOf(field))
  if (!isSubjectName(name)) throw new Error(`there is no subject ${name}`)
  const { schema } = subjects[name]
  return field.isNullable ? schema.nullable() : schema
}

function factSchema(form: FactForm): z.ZodType {
  switch (form.kind) {
    case 'integer':
      return form.least === undefined ? z.int() : z.int().min(form.least)
    case 'word':
      return z.enum(form.words)
    case 'nullable':
      return factSchema(form.form).nullable()
    case 'record': {
      const fields = Object.entries(form.facts).map(([name, fact]) => [
        snakeCase(name),
        factSchema(fact.form),
      ])
      return z.strictObject(Object.fromEntries(fields) as Readonly<Record<string, z.ZodType>>)
    }
    case 'id':
    case 'time':
    case 'boolean':
    case 'text':
    case 'units':
      return scalars[form.kind]
    default:
      return assertNever(form)
  }
}

const scalars = { id, time, boolean: z.boolean(), text: z.string(), units: amount }

/** What an event carries, in JSON. */
export function eventDataView(carried: object): Record<string, unknown> {
  const data = Object.entries(carried).map(([name, value]) => [
    snakeCase(name),
    valueView(name, value),
  ])
  return Object.fromEntries(data) as Record<string, unknown>
}

function valueView(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return value
  if (isSubjectName(name)) return subjects[name].view(value as never)
  if (value instanceof Date) return value.toISOString()
  // A count: none exceeds what JSON can say.
  return typeof value === 'bigint' ? Number(value) : value
}
