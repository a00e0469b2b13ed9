import type { en } from './en.ts'

type English = typeof en

export type TextKey = keyof English

/** All texts of a language. */
export type Texts = Readonly<Record<TextKey, string>>

type Names<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never

type Values<K extends TextKey> = Readonly<Record<Names<English[K]>, string>>

/** Of a text without placeholders. */
export type PlainTextKey = {
  [K in TextKey]: Names<English[K]> extends never ? K : never
}[TextKey]

/** A text, with a value for each of its placeholders. */
export type Say = <K extends TextKey>(
  key: K,
  ...values: Names<English[K]> extends never ? [] : [Values<K>]
) => string

export function sayIn(texts: Texts): Say {
  return (key, ...[values = {}]: [Readonly<Record<string, string>>?]) =>
    texts[key].replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder)
}
