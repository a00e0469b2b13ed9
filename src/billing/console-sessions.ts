import { signIn, type SignInResult } from '../operators/sign-in.ts'
import {
  beginSession,
  endSession,
  findSession,
  proveSession,
  type BegunSession,
  type Session,
  type SettingOperator,
} from '../operators/sessions.ts'
import { looksLikeToken } from '../operators/tokens.ts'
import type { Runtime } from './runtime.ts'

/** Counts a token that was refused, or may be guessed; whether that was one too many. */
export type IsLimited = () => Promise<boolean>

/** Who is signed in, in browsers; each session has an id that only its browser knows. */
export interface ConsoleSessions {
  /**
   * With a token. `limited`: it was one too many; a token of the settings, which people may have
   * chosen, is then not even compared, while one that nobody can guess always signs in.
   */
  signIn(token: string, isLimited: IsLimited): Promise<SignInResult | { readonly kind: 'limited' }>
  /** Without one, for an operator of the settings that this process has. */
  begin(operator: SettingOperator): Promise<BegunSession>
  /**
   * Undefined: there is none of this id, or it has ended. `isUse`: whether somebody did something, so
   * that it goes on.
   */
  find(id: string, isUse: boolean): Promise<Session | undefined>
  /** The token is shown again. False: it is not the one that began this session. */
  prove(id: string, token: string): Promise<boolean>
  end(id: string): Promise<void>
}

type Needed = Pick<Runtime, 'opened' | 'numbers'>

/** `settings`: the operators whose tokens are in the settings of this process. */
export function consoleSessions(
  { opened, numbers }: Needed,
  settings: readonly SettingOperator[],
): ConsoleSessions {
  const db = async () => (await opened()).database.db
  const limitedSignIn: ConsoleSessions['signIn'] = async (token, isLimited) => {
    const isGuessable = !looksLikeToken(token)
    if (isGuessable && (await isLimited())) return { kind: 'limited' }
    const result = await signIn(await db(), token, settings)
    if (isGuessable || result.kind === 'signed_in') return result
    return (await isLimited()) ? { kind: 'limited' } : result
  }
  return {
    signIn: async (token, isLimited) => {
      const signedIn = await limitedSignIn(token, isLimited)
      numbers.add('sign_ins_total', { result: signedIn.kind })
      return signedIn
    },
    begin: async (operator) => beginSession(await db(), operator),
    find: async (id, isUse) => findSession(await db(), id, { settings, isUse }),
    prove: async (id, token) => proveSession(await db(), { id, token }, settings),
    end: async (id) => endSession(await db(), id),
  }
}
