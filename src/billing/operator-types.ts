import type { ActionsQuery } from '../database/operator-actions.ts'
import type { Page } from '../database/page.ts'
import type { RecordActionInput, RecordedAction } from '../operators/actions.ts'
import type { AddOperatorInput } from '../operators/operator-input.ts'
import type { OperatorAccount, OperatorAction } from '../wire/operator.ts'
import type { Operator } from './authenticate.ts'

/** A new operator, with its token: it is shown this once. */
export interface AddedOperator {
  readonly operator: OperatorAccount
  readonly token: string
}

/** `billing.operators`; each is named by its name. */
export interface OperatorOperations {
  /** Also those whose token has expired, by name. */
  list(): Promise<readonly OperatorAccount[]>
  /** Makes one with a token of its own. Errors: operator_invalid, operator_exists. */
  add(input: AddOperatorInput): Promise<AddedOperator>
  /** Its token no longer works, and its sessions have ended. Error: operator_not_found. */
  remove(name: string): Promise<OperatorAccount>
  /**
   * Ends its sessions; its token still works. Also of `api` and `read`, the tokens of the settings.
   * Returns how many. Error: operator_not_found.
   */
  signOut(name: string): Promise<number>
  /**
   * Whose token this is, while it holds; asks the database each time. Let nobody guess: limit the
   * wrong ones.
   */
  find(token: string): Promise<Operator | undefined>
  /** What operators did, newest first. Errors: query_invalid, cursor_invalid. */
  actions(query?: ActionsQuery): Promise<Page<OperatorAction>>
  /**
   * Records what an operator is about to do; of the same id once, and then it is `known`. Error:
   * operator_invalid.
   */
  recordAction(input: RecordActionInput): Promise<RecordedAction>
  /** Records what came of it; the first outcome stays. Error: operator_invalid. */
  endAction(id: string, outcome: string): Promise<void>
}
