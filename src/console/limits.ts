import { excessOver } from '../http/throttle.ts'

/** Counts a try of a token that was refused, or may be guessed; whether that was one too many. */
export interface SignInLimits {
  /** Of a sender, and of all together. */
  readonly signIn: (sender: string) => Promise<boolean>
  /** Of whoever is signed in and shows the token again: nobody else can use that up. */
  readonly prove: (sessionId: string) => Promise<boolean>
}

/** In this process. */
export function signInLimits(): SignInLimits {
  const [ofSender, ofAll] = [excessOver('5 per minute'), excessOver('30 per minute')]
  const ofSession = excessOver('5 per minute')
  return {
    signIn: async (sender) => ((await ofSender(sender)) ?? (await ofAll(''))) !== undefined,
    prove: async (sessionId) => (await ofSession(sessionId)) !== undefined,
  }
}
