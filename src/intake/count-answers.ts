import type { Registry } from '../gateways/registry.ts'
import type { Numbers, Slot, Histogram } from '../numbers/slots.ts'

/** Counts what callbacks are answered; `gateway` is the name of a registered one, or any text. */
export interface AnswerCounts {
  answered(gateway: string, status: number): void
  /** The same of one that was received. */
  received(gateway: string, answer: { readonly status: number; readonly seconds: number }): void
  /** Which check failed. */
  refused(gateway: string, reason: string): void
  /** Which secret verified it, from 1. */
  verified(gateway: string, secret: number): void
}

/** Each status that the webhook route answers has one meaning. */
const kinds = {
  200: 'accepted',
  403: 'refused',
  404: 'unknown_gateway',
  413: 'too_large',
  415: 'encoding',
  422: 'malformed',
  429: 'throttled',
  500: 'failed',
  503: 'unavailable',
  // What middleware of the user's answers besides.
  0: 'other',
} as const
const anyOther = 0

interface GatewayCounts {
  /** By status. */
  readonly answers: ReadonlyMap<number, Slot>
  readonly seconds: Histogram
  readonly firstSecret: Slot
}

/** All that a callback adds to is made here, so that it only has to be found. */
export function countAnswers(
  numbers: Numbers,
  gateways: Pick<Registry, 'find' | 'list'>,
): AnswerCounts {
  const countsOf = (gateway: string): GatewayCounts => ({
    answers: new Map(
      Object.entries(kinds).map(([status, answer]) => [
        Number(status),
        numbers.slot('callbacks_total', {
          gateway,
          // What reaches a gateway by name is at no other name, but at another address.
          answer: status === '404' && gateway !== '' ? 'wrong_address' : answer,
        }),
      ]),
    ),
    seconds: numbers.histogram('callback_seconds', { gateway }),
    firstSecret: numbers.slot('verified_by_total', { gateway, secret: '1' }),
  })
  const known = new Map(gateways.list().map(({ gateway: { name } }) => [name, countsOf(name)]))
  // What names no gateway is a stranger's text.
  const none = countsOf('')
  const nameOf = (gateway: string) => gateways.find(gateway)?.gateway.name ?? ''
  const find = (gateway: string) => known.get(gateway) ?? known.get(nameOf(gateway)) ?? none
  const add = ({ answers }: GatewayCounts, status: number) => {
    const slot = answers.get(status) ?? answers.get(anyOther)
    if (slot !== undefined) slot.value += 1
  }
  return {
    answered: (gateway, status) => add(find(gateway), status),
    received(gateway, { status, seconds }) {
      const counts = find(gateway)
      add(counts, status)
      counts.seconds.observe(seconds)
    },
    refused: (gateway, reason) => numbers.add('callbacks_refused_total', { gateway, reason }),
    verified(gateway, secret) {
      if (secret === 1) find(gateway).firstSecret.value += 1
      else numbers.add('verified_by_total', { gateway, secret: String(secret) })
    },
  }
}
