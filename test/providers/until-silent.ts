import { handTimers } from '../support/hand-timers.ts'
import type { ProviderServer } from './provider-stand-in.ts'

export interface SilenceLimit extends Disposable {
  /** For `providerTimeoutMs`. */
  readonly limitMs: number
}

type Silent = Pick<ProviderServer, 'whenSilent'>

/** Time for a provider to answer that is over once it is silent, and never before. */
export function untilSilent(provider: Silent): SilenceLimit {
  const timers = handTimers()
  provider.whenSilent(timers.strike)
  return { limitMs: timers.lengthMs, [Symbol.dispose]: timers[Symbol.dispose] }
}

/** The same for one operation: what `AbortSignal.timeout` would give. */
export function endedBySilence(provider: Silent): AbortSignal {
  const abort = new AbortController()
  const reason = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  provider.whenSilent(() => abort.abort(reason))
  return abort.signal
}
