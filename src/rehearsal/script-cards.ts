import { endCharge } from '../gateways/fake/charge-saved-card.ts'
import type { FakeEnd } from '../gateways/fake/ending.ts'
import { fake } from '../gateways/fake/index.ts'
import { pollCharge } from '../gateways/fake/poll.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { RegisteredGateway, Registry } from '../gateways/registry.ts'

/**
 * How a charge of a saved card ends:
 * - `paid`; or declined: `soft` (no money), `hard` (stolen), `gone` (no such card),
 *   `authentication`;
 * - `confirm`: the bank wants the payer to confirm it on a page (3-D Secure); `waiting`: somewhere
 *   that we do not know;
 * - `lost`: no answer, and nothing was charged; `cut`: no answer, but it was charged;
 * - `late`, `bounced`: paid or declined a minute later; `recovered`: declined, but paid after all;
 * - `refused`: by a fault of our own, such as an expired API key.
 */
export type CardBehavior = (typeof behaviors)[number]

const behaviors = [
  'paid',
  'soft',
  'hard',
  'gone',
  'authentication',
  'confirm',
  'waiting',
  'refused',
  'lost',
  'cut',
  'late',
  'bounced',
  'recovered',
] as const satisfies readonly FakeEnd[]

/** The gateway `fake` with a memory: how a card ends its charges can be changed at any time. */
export interface CardScripts {
  gateways(registered: Registry): Registry
  behave(reference: string, behavior: CardBehavior, charges?: WhichCharges): void
}

/** Which of the next charges end so; all of them, if nothing is said. The others are paid. */
export interface WhichCharges {
  /** So many are paid before. */
  readonly after?: number
  /** So many end so. */
  readonly times?: number
}

interface CardScript extends Required<WhichCharges> {
  readonly behavior: CardBehavior
  charges: number
}

export function scriptCards(): CardScripts {
  const scripts = new Map<string, CardScript>()
  const endings = new Map<string, FakeEnd>()
  const scripted = scriptedFake((reference) => nextOf(scripts.get(reference)), endings)
  const swapped = (found: RegisteredGateway): RegisteredGateway =>
    found.gateway.name === fake.name ? { ...found, gateway: scripted } : found
  return {
    gateways: (registered) => ({
      ...registered,
      find: (name) => {
        const found = registered.find(name)
        return found && swapped(found)
      },
      list: () => registered.list().map(swapped),
    }),
    behave(reference, behavior, { after = 0, times = Infinity } = {}) {
      scripts.set(reference, { behavior, after, times, charges: 0 })
    },
  }
}

function nextOf(script: CardScript | undefined): CardBehavior | undefined {
  if (script === undefined) return undefined
  const { charges, after, times } = script
  script.charges += 1
  return charges >= after && charges < after + times ? script.behavior : 'paid'
}

/** Nobody waits for a pace that protects no provider. */
const perMinute = 1_000_000

function scriptedFake(
  next: (reference: string) => CardBehavior | undefined,
  endings: Map<string, FakeEnd>,
): Gateway {
  return {
    ...fake,
    chargesPerMinute: perMinute,
    pollsPerMinute: perMinute,
    chargeSavedCard: async (request, context) => {
      const ending = next(request.method.providerReference)
      if (ending === undefined) return required(fake.chargeSavedCard)(request, context)
      endings.set(request.payment.id, ending)
      return endCharge(request, context, ending)
    },
    poll: async (request, context) => {
      const ending = endings.get(request.payment.id)
      const asAlways = required(fake.poll)
      return ending === undefined
        ? asAlways(request, context)
        : pollCharge(request, context, ending)
    },
  }
}

function required<T>(operation: T | undefined): T {
  if (operation === undefined) throw new Error('the gateway fake lacks an operation')
  return operation
}
