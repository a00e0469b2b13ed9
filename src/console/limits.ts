import { inThisProcess, type Limits } from '../http/throttle.ts'
import type { Log } from '../kernel/log.ts'
import { tally, type Tally } from '../kernel/tally.ts'

/** Counts a try of a token that was refused, or may be guessed; whether that was one too many. */
export interface SignInLimits {
  /** Of a sender, and of all together. */
  readonly signIn: (sender: string) => Promise<boolean>
  /** Of whoever is signed in and shows the token again: nobody else can use that up. */
  readonly prove: (sessionId: string) => Promise<boolean>
  /** Says in the log whose tokens were not taken: by senders, and by the names of operators. */
  readonly refused: { readonly signIn: Tally; readonly prove: Tally }
}

export function signInLimits(log: Log, limits: Limits = inThisProcess): SignInLimits {
  const ofSender = limits('sign-ins of a sender', '5 per minute')
  const ofAll = limits('sign-ins of all', '30 per minute')
  const ofSession = limits('proofs of a session', '5 per minute')
  return {
    signIn: async (sender) => ((await ofSender(sender)) ?? (await ofAll(''))) !== undefined,
    prove: async (sessionId) => (await ofSession(sessionId)) !== undefined,
    refused: {
      signIn: tally(({ count, names }) =>
        log.warn({ refused: count, addresses: names }, 'the console refused a token to sign in'),
      ),
      prove: tally(({ count, names }) =>
        log.warn({ refused: count, operators: names }, 'the console refused a token to move money'),
      ),
    },
  }
}
