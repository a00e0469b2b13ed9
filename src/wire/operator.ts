import * as field from '../kernel/noun.ts'
import { byText, derived, inWords, orNull, viewOf, type Noun, type Values } from '../kernel/noun.ts'

export const operatorRoles = ['viewer', 'operator'] as const

/** What an operator may do: a `viewer` reads, an `operator` also acts. */
export type OperatorRole = (typeof operatorRoles)[number]

export const actionVias = ['console', 'api', 'cli'] as const

/** Where an operator acted. */
export type ActionVia = (typeof actionVias)[number]

export const operatorFields = {
  id: field.id('operator'),
  name: field.text(),
  role: field.choice(operatorRoles),
  createdAt: field.time(),
  /** Null: the token has no end. */
  expiresAt: orNull(field.time()),
}

/** An operator with a token of its own; never with the token. */
export interface OperatorAccount extends Values<typeof operatorFields> {
  readonly isExpired: boolean
}

export const operatorView = viewOf({
  ...operatorFields,
  expired: derived(field.flag(), ({ isExpired }: OperatorAccount) => isExpired),
})

export const actionFields = {
  id: field.id('action'),
  at: field.time({ label: 'time' }),
  operator: field.text(),
  via: field.choice(actionVias),
  action: field.text(),
  /** What it was done to, such as the id of a payment. */
  subject: orNull(field.text()),
  detail: field.object({ toText: detailText }),
  /** What came of it; null: not known, as it is under way, or its process ended meanwhile. */
  outcome: orNull(field.text()),
}

/** What an operator did, or tried to do. */
export interface OperatorAction extends Values<typeof actionFields> {}

/** What narrows a list of actions. */
export const actionFilters = {
  operator: byText('only of this one', { placeholder: 'name' }),
  /** What they were done to, such as the id of a payment. */
  subject: byText('only about this: the id of a payment, ...', { placeholder: 'id' }),
}

export const actionNoun: Noun<OperatorAction> = {
  plural: 'actions',
  facts: {
    ...actionFields,
    outcome: inWords(({ outcome }: OperatorAction) => outcome ?? 'unknown'),
  },
  filters: actionFilters,
  columns: ['operator', 'via', 'action', 'outcome', 'at'],
  notes: ['subject'],
  view: viewOf(actionFields),
}

function detailText(detail: Readonly<Record<string, unknown>>): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ')
}
