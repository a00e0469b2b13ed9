import { en } from './en.ts'
import type { Texts } from './texts.ts'
import { uk } from './uk.ts'

/** The languages of the pages, by their tags: a file each, and a line here. */
export const languages = { en, uk } as const satisfies Readonly<Record<string, Texts>>

export type LanguageTag = keyof typeof languages

/** What a payer most likely reads of whom nothing but the currency is known; else English. */
export const languageOfCurrency: Readonly<Record<string, LanguageTag>> = { UAH: 'uk' }
