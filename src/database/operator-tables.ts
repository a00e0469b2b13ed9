import type { ActionVia, OperatorRole } from '../wire/operator.ts'
import type { JsonText, NullableTimestamp, Timestamp } from './column-types.ts'

/** Who has a token: see operators.ts. */
export interface OperatorsTable {
  id: string
  name: string
  role: OperatorRole
  /** SHA-256 of the token, which is nowhere. */
  token_hash: Buffer
  created_at: Timestamp
  expires_at: NullableTimestamp
}

/** Who is signed in: see operator-sessions.ts. */
export interface OperatorSessionsTable {
  /** SHA-256 of the id, which only the browser has. */
  id_hash: Buffer
  /** The name of the operator. */
  operator: string
  role: OperatorRole
  /** Whose token began it; null: a token of the settings did. */
  operator_id: string | null
  /** That token, keyed by the id of the session. */
  token_proof: Buffer | null
  created_at: Timestamp
  used_at: Timestamp
  /** However much it is used. */
  ends_at: Timestamp
  /** When the token was last shown. */
  proved_at: Timestamp
}

/** Who did what: see operator-actions.ts. */
export interface OperatorActionsTable {
  id: string
  at: Timestamp
  operator: string
  via: ActionVia
  action: string
  subject: string | null
  detail: JsonText
  /** Null: it is not known, or not yet. */
  outcome: string | null
}
