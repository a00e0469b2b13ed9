import { readStored, writeStored, type StoredOf } from '../kernel/event-shape.ts'
import type { StoredData } from '../kernel/stored-fields.ts'
import { subscriptionEvents, type PlannedEvent } from '../subscriptions/events.ts'
import { catalogue, type EventType } from './catalogue.ts'

export type { StoredData } from '../kernel/stored-fields.ts'

/** An event's data as it is stored. */
export function writeEventData<Type extends EventType>({
  type,
  data,
}: {
  readonly type: Type
  readonly data: StoredOf<(typeof catalogue)[Type]>
}): StoredData {
  return writeStored(catalogue[type], data)
}

/**
 * What was stored, read back. What a newer version has added is left out; anything else that is not
 * as we write it throws: the event is retried, and then it is a person's.
 */
export function readEventData(type: EventType, stored: StoredData): StoredData {
  const { read, fault } = readStored(catalogue[type], stored)
  if (fault !== undefined) {
    throw new Error(`the stored data of ${type} is not as we write it: ${fault}`)
  }
  return read
}

export function isSubscriptionEventType(type: string): type is PlannedEvent['type'] {
  return Object.hasOwn(subscriptionEvents, type)
}

/** The same of an event of a subscription. */
export function readPlannedEvent(type: PlannedEvent['type'], stored: StoredData): PlannedEvent {
  return { type, data: readEventData(type, stored) } as PlannedEvent
}
