import type { z } from 'zod'
import type { ErrorCode } from '../kernel/errors.ts'
import { snakeCase } from '../kernel/field-names.ts'

/** One setting. Its doc comment says what it means. */
export interface Setting<In = unknown, Out = unknown> extends About {
  /** The messages of its checks continue the name of the setting: `must be ...`. */
  readonly type: z.ZodType<unknown, In>
  readonly default: Out
}

interface About {
  /** Its variables, if not the derived one; the first that is set counts. */
  readonly variables?: readonly string[]
  /** What a variable's text means, if its type does not say. */
  readonly read?: (text: string) => unknown
  /** Never shown. */
  readonly secret?: boolean
  readonly code?: ErrorCode
  readonly fix?: string
}

/** Settings by name, and groups of them. */
export interface Shape {
  readonly [name: string]: Setting | Shape
}

/** What may be given for a setting, or for a group, whose members may each be left out. */
export type Option<N> =
  N extends Setting<infer In>
    ? In | undefined
    : Shown<{ readonly [K in keyof N]?: Option<N[K]> }> | undefined

/** So that an editor shows what is in a group, not how the type is made. */
type Shown<T> = T extends infer O ? { readonly [K in keyof O]: O[K] } : never

/** All settings, with the defaults. */
export type Complete<S> = {
  readonly [K in keyof S]: S[K] extends Setting<unknown, infer Out> ? Out : Complete<S[K]>
}

export function setting<T extends z.ZodType>(
  type: T,
  about: About & { readonly default: NoInfer<NonNullable<z.output<T>>> },
): Setting<z.input<T>, NonNullable<z.output<T>>>
export function setting<T extends z.ZodType>(
  type: T,
  about?: About,
): Setting<z.input<T>, z.output<T> | undefined>
export function setting(type: z.ZodType, about: About & { readonly default?: unknown } = {}) {
  return { default: undefined, ...about, type }
}

export function isSetting(node: Setting | Shape): node is Setting {
  return typeof node.type === 'object' && 'safeParse' in node.type
}

export interface PlacedSetting {
  /** Its names, from the outermost group inwards. */
  readonly path: readonly string[]
  readonly setting: Setting
}

export function settingsIn(shape: Shape, within: readonly string[] = []): readonly PlacedSetting[] {
  return Object.entries(shape).flatMap(([name, node]) => {
    const path = [...within, name]
    return isSetting(node) ? [{ path, setting: node }] : settingsIn(node, path)
  })
}

/** `webhook.pruneAfterDays` is BILLING_WEBHOOK_PRUNE_AFTER_DAYS; the group `billing` counts once. */
export function variablesOf({ path, setting }: PlacedSetting): readonly string[] {
  const words = path[0] === 'billing' ? path : ['billing', ...path]
  return setting.variables ?? [words.map(snakeCase).join('_').toUpperCase()]
}
