import { createHash, timingSafeEqual } from 'node:crypto'
import type { Kysely } from 'kysely'
import { findOperatorsByToken } from '../database/operators.ts'
import type { Tables } from '../database/tables.ts'
import { beginSession, type SettingOperator } from './sessions.ts'
import { hashOf, looksLikeToken } from './tokens.ts'

export type SignInResult =
  /** The id is a secret of the browser, and returned this once. */
  | { readonly kind: 'signed_in'; readonly id: string; readonly operator: string }
  /** It is nobody's token, or no longer. */
  | { readonly kind: 'refused' }

const refused: SignInResult = { kind: 'refused' }

/** Begins a session for whoever has this token: one of the settings, or an operator's own. */
export async function signIn(
  db: Kysely<Tables>,
  token: string,
  settings: readonly SettingOperator[],
): Promise<SignInResult> {
  const setting = settings.find((one) => isSame(one.token.reveal(), token))
  if (setting !== undefined) return begin(db, setting, setting.name)
  if (!looksLikeToken(token)) return refused
  const hash = hashOf(token)
  const operator = (await findOperatorsByToken(db, [hash])).get(hash.toString('hex'))
  return operator === undefined ? refused : begin(db, { operatorId: operator.id }, operator.name)
}

async function begin(
  db: Kysely<Tables>,
  who: Parameters<typeof beginSession>[1],
  operator: string,
): Promise<SignInResult> {
  const begun = await beginSession(db, who)
  return begun.kind === 'begun' ? { kind: 'signed_in', id: begun.id, operator } : refused
}

/** Digests: they are of one length, and how long the comparison takes tells nothing. */
function isSame(expected: string, sent: string): boolean {
  return timingSafeEqual(digest(expected), digest(sent))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
