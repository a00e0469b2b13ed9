import type { EventSource } from '../../events/catalogue.ts'

/** What caused an event. */
export const sourceWords: Readonly<Record<EventSource, string>> = {
  call: 'a callback of the provider',
  poll: 'asking the provider',
  refund: 'a refund',
  operator: 'an operator or the app',
  service: 'the service itself, at its time',
  browser: "a payer's browser: it proves nothing",
}
