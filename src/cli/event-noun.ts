import type { Delivery } from '../events/event-record.ts'
import { counted } from '../kernel/counted.ts'
import { inWords, type Noun } from '../kernel/noun.ts'
import { eventNoun as noun, type ListedEvent } from '../wire/outgoing-event.ts'
import { aboutEvent } from './event-text.ts'

/** The last one says so of an event that holds no longer, too. */
const { data: _data, superseded: _superseded, ...facts } = noun.facts

/** An event in a line: what it is about, as that stands now. */
export const eventNoun: Noun<ListedEvent> = {
  ...noun,
  facts: {
    ...facts,
    deliveries: inWords(({ deliveries }: ListedEvent) => deliveries.map(deliveryText).join('\n'), {
      label: 'listeners',
    }),
    about: inWords((event: ListedEvent) => aboutEvent(event.toJSON()).join('  ')),
  },
  notes: ['about'],
}

function deliveryText({ listener, state, attempts, exception }: Delivery): string {
  const [error] = exception?.split('\n', 1) ?? []
  const said = error === undefined ? '' : `: ${error}`
  return `${listener}  ${state}, ${counted(attempts, 'failed attempt')}${said}`
}
