import type { EventType } from '../events/catalogue.ts'
import type { Listener, ListenerOptions, QueuedListener } from '../listeners/listener.ts'

/** What a listener listens to: events of one type, or of several. */
export type ListenedTo = EventType | readonly EventType[]

type TypeIn<On extends ListenedTo> = On extends readonly (infer T)[]
  ? T & EventType
  : On & EventType

/** A listener in the option `listeners`: what it listens to, and what it runs. */
export type ListenerEntry<On extends ListenedTo> =
  | (ListenerOptions & {
      readonly on: On
      readonly queued?: false | undefined
      readonly run: Listener<TypeIn<On>>
    })
  | (ListenerOptions & {
      readonly on: On
      readonly queued: true
      readonly run: QueuedListener<TypeIn<On>>
    })

/**
 * Listeners by their names. `defineConfig` and `createBilling` infer the argument of `run`;
 * elsewhere the event of a listener of several types must be declared.
 */
export type ListenersOption = {
  readonly [name: string]:
    | { [T in EventType]: ListenerEntry<T> }[EventType]
    | (ListenerOptions & {
        readonly on: readonly EventType[]
        readonly queued?: boolean | undefined
        readonly run: (event: never, context: never) => unknown
      })
}

/** What each listener listens to. */
export type ListenedToByName = Readonly<Record<string, ListenedTo>>

/** Options whose listeners' events are inferred, each from what the listener listens to. */
export type WithListeners<Options, On extends ListenedToByName> = Omit<Options, 'listeners'> & {
  readonly listeners?:
    | {
        readonly [Name in keyof On]: ListenedTo extends On[Name]
          ? ListenersOption[string]
          : ListenerEntry<On[Name]>
      }
    | undefined
}
