import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Kysely } from 'kysely'
import {
  deleteSession,
  deleteSessionsOf,
  findLiveSession,
  insertSession,
  insertSettingSession,
  writeProof,
  writeUse,
  type SessionRow,
} from '../database/operator-sessions.ts'
import type { Tables } from '../database/tables.ts'
import type { Secret } from '../kernel/secret.ts'
import type { OperatorRole } from '../wire/operator.ts'
import { hashOf, looksLikeToken } from './tokens.ts'

/** Who is signed in, and since when. */
export interface Session {
  readonly operator: string
  readonly role: OperatorRole
  readonly createdAt: Date
  /** However much it is used. */
  readonly endsAt: Date
  /** When the token was last shown. */
  readonly provedAt: Date
  /** Whether that was so lately that money may be moved. */
  readonly isProved: boolean
}

/** An operator that a token of the settings stands for: `api`, `read`. Several may stand for one. */
export interface SettingOperator {
  readonly name: string
  readonly role: OperatorRole
  readonly token: Secret
}

/** Whose token was shown: that of the operator with this id, or one of the settings. */
export type SignedIn = { readonly operatorId: string } | SettingOperator

export type BegunSession =
  /** The id is a secret of the browser, and returned this once. */
  | { readonly kind: 'begun'; readonly id: string }
  /** The operator was removed meanwhile, or its token has expired. */
  | { readonly kind: 'gone' }

/** 32 bytes in base64url: nothing else is looked up. */
const idPattern = /^[A-Za-z0-9_-]{43}$/

/** With an id of its own, whatever the browser had before. */
export async function beginSession(db: Kysely<Tables>, who: SignedIn): Promise<BegunSession> {
  const id = randomBytes(32).toString('base64url')
  const idHash = hashOf(id)
  if ('operatorId' in who) {
    const isBegun = await insertSession(db, idHash, who.operatorId)
    return isBegun ? { kind: 'begun', id } : { kind: 'gone' }
  }
  const { name: operator, role, token } = who
  const tokenProof = proofOf(id, token.reveal())
  await insertSettingSession(db, { idHash, operator, role, tokenProof })
  return { kind: 'begun', id }
}

/** How a session is looked up. */
export interface Looked {
  /** The tokens of the settings as they are now. */
  readonly settings: readonly SettingOperator[]
  /** False: nobody has done anything, a page refreshes itself. */
  readonly isUse?: boolean
}

/**
 * Undefined: there is none of this id, or it has ended: 60 minutes without use, 12 hours in all, with
 * its token, by a sign-out.
 */
export async function findSession(
  db: Kysely<Tables>,
  id: string,
  { settings, isUse = true }: Looked,
): Promise<Session | undefined> {
  if (!idPattern.test(id)) return undefined
  const idHash = hashOf(id)
  const row = await findLiveSession(db, idHash)
  if (row === undefined || !isOfItsToken(row, id, settings)) return undefined
  if (isUse && row.isUnwritten) await writeUse(db, idHash)
  const { operator, role, createdAt, endsAt, provedAt, isProved } = row
  return { operator, role, createdAt, endsAt, provedAt, isProved }
}

/** The token is shown again. False: it is not a token of the operator who is signed in. */
export async function proveSession(
  db: Kysely<Tables>,
  { id, token }: { readonly id: string; readonly token: string },
  settings: readonly SettingOperator[],
): Promise<boolean> {
  if (!idPattern.test(id)) return false
  const idHash = hashOf(id)
  const row = await findLiveSession(db, idHash)
  if (row === undefined || !isOfItsToken(row, id, settings)) return false
  if (row.tokenProof === null) {
    return looksLikeToken(token) && writeProof(db, idHash, hashOf(token))
  }
  const proof = proofOf(id, token)
  const isTheirs = proofsOf(row.operator, id, settings).some((one) => timingSafeEqual(one, proof))
  return isTheirs && writeProof(db, idHash)
}

export async function endSession(db: Kysely<Tables>, id: string): Promise<void> {
  if (idPattern.test(id)) await deleteSession(db, hashOf(id))
}

/** All of an operator, in every browser. Returns how many. */
export function endSessionsOf(db: Kysely<Tables>, operator: string): Promise<number> {
  return deleteSessionsOf(db, operator)
}

/** One that a token of the settings began ends once that is no longer set. */
function isOfItsToken(
  { operator, tokenProof }: SessionRow,
  id: string,
  settings: readonly SettingOperator[],
): boolean {
  if (tokenProof === null) return true
  return proofsOf(operator, id, settings).some((proof) => timingSafeEqual(tokenProof, proof))
}

function proofsOf(
  operator: string,
  id: string,
  settings: readonly SettingOperator[],
): readonly Buffer[] {
  return settings
    .filter(({ name }) => name === operator)
    .map(({ token }) => proofOf(id, token.reveal()))
}

/**
 * People may choose the tokens of the settings, and a plain hash of a short one can be guessed from a
 * dump of the database; the id that this one is keyed by is in no dump.
 */
function proofOf(id: string, token: string): Buffer {
  return createHmac('sha256', id).update(token).digest()
}
