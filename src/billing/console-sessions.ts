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
import type { Runtime } from './runtime.ts'

/** Counts a token that was refused, or may be guessed; whether that was one too many. */
export type IsLimited = () => Promise<boolean>

/** Who is signed in, in browsers; each session has an id that only its browser knows. */
export interface ConsoleSessions {
  /**
   * With a token. `limited`: it was one too many; a short token, which people may have chosen, is then
   * not even compared, while one that nobody can guess always signs in: strangers keep nobody out.
   */
  signIn(token: string, isLimited: IsLimited): Promise<SignInResult | Limited>
  /** Without one, for an operator of the settings that this process has. */
  begin(operator: SettingOperator): Promise<BegunSession>
  /**
   * Undefined: there is none of this id, or it has ended. `isUse`: whether somebody did something, so
   * that it goes on.
   */
  find(id: string, isUse: boolean): Promise<Session | undefined>
  /** A token is shown again. `refused`: it is not a token of the operator who is signed in. */
  prove(id: string, token: string, isLimited: IsLimited): Promise<{ kind: 'proved' } | NotProved>
  end(id: string): Promise<void>
}

interface Limited {
  readonly kind: 'limited'
}

/** Why a token that is shown again does not count. */
export type NotProved = Limited | { readonly kind: 'refused' }

type Needed = Pick<Runtime, 'opened' | 'numbers'>

/** `settings`: the operators whose tokens are in the settings of this process. */
export function consoleSessions(
  { opened, numbers }: Needed,
  settings: readonly SettingOperator[],
): ConsoleSessions {
  const db = async () => (await opened()).database.db
  return {
    signIn: async (token, isLimited) => {
      const compare = async () => signIn(await db(), token, settings)
      const signedIn = await limited({ token, isLimited }, compare)
      numbers.add('sign_ins_total', { result: signedIn.kind })
      return signedIn
    },
    begin: async (operator) => beginSession(await db(), operator),
    find: async (id, isUse) => findSession(await db(), id, { settings, isUse }),
    prove: async (id, token, isLimited) =>
      limited({ token, isLimited }, async () => {
        const isProved = await proveSession(await db(), { id, token }, settings)
        return { kind: isProved ? 'proved' : 'refused' } as const
      }),
    end: async (id) => endSession(await db(), id),
  }
}

interface Try {
  readonly token: string
  readonly isLimited: IsLimited
}

/** So long that nobody chooses nor guesses it: `openssl rand -base64 32` makes 44. */
const unguessable = 32

async function limited<T extends { readonly kind: string }>(
  { token, isLimited }: Try,
  compare: () => Promise<T>,
): Promise<T | Limited> {
  const isGuessable = token.length < unguessable
  if (isGuessable && (await isLimited())) return { kind: 'limited' }
  const result = await compare()
  if (isGuessable || result.kind !== 'refused') return result
  return (await isLimited()) ? { kind: 'limited' } : result
}
