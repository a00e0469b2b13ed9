export const operatorRoles = ['viewer', 'operator'] as const

/** What an operator may do: a `viewer` reads, an `operator` also acts. */
export type OperatorRole = (typeof operatorRoles)[number]

export const actionVias = ['console', 'api', 'cli'] as const

/** Where an operator acted. */
export type ActionVia = (typeof actionVias)[number]

/** An operator with a token of its own; never with the token. */
export interface OperatorAccount {
  readonly id: string
  readonly name: string
  readonly role: OperatorRole
  readonly createdAt: Date
  /** Null: the token has no end. */
  readonly expiresAt: Date | null
  readonly isExpired: boolean
}

/** What an operator did, or tried to do. */
export interface OperatorAction {
  readonly id: string
  readonly at: Date
  readonly operator: string
  readonly via: ActionVia
  readonly action: string
  /** What it was done to, such as the id of a payment. */
  readonly subject: string | null
  readonly detail: Readonly<Record<string, unknown>>
  /** What came of it; null: not known, as it is under way, or its process ended meanwhile. */
  readonly outcome: string | null
}

export function operatorView(operator: OperatorAccount) {
  return {
    id: operator.id,
    name: operator.name,
    role: operator.role,
    created_at: operator.createdAt.toISOString(),
    expires_at: operator.expiresAt?.toISOString() ?? null,
    expired: operator.isExpired,
  }
}

/** The one time that its token is shown. */
export function addedOperatorView({
  operator,
  token,
}: {
  readonly operator: OperatorAccount
  readonly token: string
}) {
  return { ...operatorView(operator), token }
}

export function actionView(action: OperatorAction) {
  return {
    id: action.id,
    at: action.at.toISOString(),
    operator: action.operator,
    via: action.via,
    action: action.action,
    subject: action.subject,
    detail: action.detail,
    outcome: action.outcome,
  }
}
