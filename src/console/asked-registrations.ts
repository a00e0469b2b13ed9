import type { RegistrationState } from '../billing/types.ts'
import { minutes } from '../kernel/duration.ts'
import type { ConsoleContext } from './context.ts'
import { failureOf } from './refusals.ts'

/** What a provider said of the callback URLs that are registered there. */
export interface AskedRegistration {
  readonly at: Date
  readonly answer:
    | { readonly kind: 'read'; readonly state: RegistrationState }
    /** In words for a person. */
    | { readonly kind: 'failed'; readonly text: string }
}

const keptFor = minutes(10)

/** Of each console of this process, by the name of the gateway: there are as many as gateways. */
const kept = new WeakMap<ConsoleContext, Map<string, AskedRegistration>>()

/** What was answered lately, if this process has asked. */
export function knownRegistration(
  console: ConsoleContext,
  gateway: string,
): AskedRegistration | undefined {
  const asked = kept.get(console)?.get(gateway)
  if (asked === undefined) return undefined
  // In both directions: a clock that was set back must not keep it for ever.
  const age = Math.abs(console.now().getTime() - asked.at.getTime())
  return age < keptFor ? asked : undefined
}

/** Asks now, and keeps what is answered, a failure too. */
export async function askRegistration(
  console: ConsoleContext,
  gateway: string,
): Promise<AskedRegistration> {
  const answer = await read(console, gateway)
  const asked = { at: console.now(), answer }
  const own = kept.get(console) ?? new Map<string, AskedRegistration>()
  kept.set(console, own.set(gateway, asked))
  return asked
}

async function read(
  { core }: ConsoleContext,
  gateway: string,
): Promise<AskedRegistration['answer']> {
  try {
    return { kind: 'read', state: await core.registration.read(gateway) }
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined) throw error
    return { kind: 'failed', text: failure.text }
  }
}
