import { InvalidArgumentError } from 'commander'
import { eventTypes, isEventType, type EventType } from '../events/catalogue.ts'
import { choiceAmong } from '../kernel/similar-name.ts'

/** Names of events, separated by commas, as the value of an option. */
export function readTypes(text: string): readonly EventType[] {
  return text.split(',').map((name) => {
    if (isEventType(name)) return name
    const choice = choiceAmong(name, eventTypes)
    throw new InvalidArgumentError(`There is no event ${JSON.stringify(name)}${choice}.`)
  })
}
