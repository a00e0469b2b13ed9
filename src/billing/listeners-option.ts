import type { EventType } from '../events/catalogue.ts'
import type { Listener, ListenerOptions, QueuedListener } from '../listeners/listener.ts'

/** A listener as a function (its name counts), or with options. */
export type ListenerEntry<T extends EventType> =
  | (Listener<T> & NotQueued)
  | (ListenerOptions & { readonly queued?: false | undefined; readonly listener: Listener<T> })
  | (ListenerOptions & { readonly queued: true; readonly listener: QueuedListener<T> })

/** A discriminant in every form lets TypeScript infer the parameters of an entry's listener. */
type NotQueued = { readonly queued?: undefined }

/** Listeners by the event that they listen to: one, or a list. */
export type ListenersOption = {
  readonly [T in EventType]?: ListenerEntry<T> | (readonly ListenerEntry<T>[] & NotQueued)
}
