import type { EventType } from '../events/catalogue.ts'
import type { Listener, ListenerOptions } from '../listeners/listener.ts'
import type { QueuedListener } from './types.ts'

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
 * Listeners by their names. `defineListeners`, `defineConfig` and `createBilling` infer the argument
 * of `run`; elsewhere the event of a listener of several types must be declared.
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

/** Listeners whose events are inferred, each from what the listener listens to. */
export type InferredListeners<On extends ListenedToByName> = {
  readonly [Name in keyof On]: ListenedTo extends On[Name]
    ? ListenersOption[string]
    : ListenerEntry<On[Name]>
}

/** Options whose listeners are. */
export type WithListeners<Options, On extends ListenedToByName> = Omit<Options, 'listeners'> & {
  readonly listeners?: InferredListeners<On> | undefined
}

/**
 * Types listeners in a file of their own, which quittance.config.ts imports: then the app and the
 * commands have the same.
 */
export function defineListeners<const On extends ListenedToByName>(
  listeners: InferredListeners<On>,
): ListenersOption
export function defineListeners(listeners: ListenersOption): ListenersOption {
  return listeners
}
