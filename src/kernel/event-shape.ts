import { id, orNull, readFacts, writeFacts, type Fact, type Facts } from './facts.ts'
import type { FactForm, FactValue, StoredData } from './facts.ts'

/** What a type of event carries and stores, and its key. */
export interface EventShape {
  /** What listeners and other systems get, in addition to what all events have. */
  readonly carries: Fields
  /** What it stores besides, for those who write and read it. */
  readonly keeps?: Facts
  /** The dedup key. A name in angle brackets stands for an id, or for what the name says. */
  readonly key: string
  /** What leads to it. */
  readonly firedBy: string
}

export type Fields = Readonly<Record<string, Fact<unknown> | Subject | Derived<unknown>>>

/** What an event is about, named by its field. It is read when the event is dispatched. */
export interface Subject<Stored extends boolean = boolean, Nullable extends boolean = boolean> {
  /** Its id is a fact of the event; otherwise the row of the event says which one it is. */
  readonly isStored: Stored
  readonly isNullable: Nullable
}

/** What follows from the subjects; in JSON it is like a fact. */
export interface Derived<Value> {
  readonly follows: Fact<Value>['form']
  /** Of the type alone: it is never there. */
  readonly value?: Value
}

export const subject: Subject<false, false> = { isStored: false, isNullable: false }

/** A subject whose id the event stores. */
export const linked: Subject<true, false> = { isStored: true, isNullable: false }

/** The same where there may be none. */
export function orNone<Stored extends boolean>({
  isStored,
}: Subject<Stored, false>): Subject<Stored, true> {
  return { isStored, isNullable: true }
}

export function derived<Value>({ form }: Fact<Value>): Derived<Value> {
  return { follows: form }
}

export function isFact(field: Fields[string]): field is Fact<unknown> {
  return 'read' in field
}

export function isSubject(field: Fields[string]): field is Subject {
  return 'isStored' in field
}

/** The form in JSON of what is no subject. */
export function formOf(field: Fact<unknown> | Derived<unknown>): FactForm {
  return 'form' in field ? field.form : field.follows
}

/** What an event of a shape stores: its facts, and ids of subjects. */
export type StoredOf<Shape extends EventShape> = {
  readonly [
    Name in keyof Shape['carries'] & string as StoredName<Name, Shape['carries'][Name]>
  ]: StoredValue<Shape['carries'][Name]>
} & (Shape extends { readonly keeps: infer Kept extends Facts }
  ? { readonly [Name in keyof Kept]: FactValue<Kept[Name]> }
  : unknown)

type StoredName<Name extends string, Of> =
  Of extends Fact<unknown> ? Name : Of extends Subject<true> ? `${Name}Id` : never
type StoredValue<Of> =
  Of extends Subject<true, infer Nullable>
    ? string | (Nullable extends true ? null : never)
    : FactValue<Of>

function storedFacts({ carries, keeps }: EventShape): Facts {
  const stored = Object.entries(carries).flatMap(([name, field]): [string, Fact<unknown>][] => {
    if (isFact(field)) return [[name, field]]
    if (!isSubject(field) || !field.isStored) return []
    return [[`${name}Id`, field.isNullable ? orNull(id) : id]]
  })
  return { ...Object.fromEntries(stored), ...keeps }
}

/** What an event of this shape stores of itself. */
export function writeStored(shape: EventShape, values: object): StoredData {
  return writeFacts(storedFacts(shape), values as StoredData)
}

/** The same read back; `fault`: the name of what is not as we write it. */
export function readStored(shape: EventShape, stored: StoredData): ReturnType<typeof readFacts> {
  return readFacts(storedFacts(shape), stored)
}

/** The names in the angle brackets of a key. */
export type NamesIn<Key extends string> = Key extends `${string}<${infer Name}>${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

export type KeyNames = Readonly<Record<string, string | number | bigint | undefined>>

/** The key with these values in place of its names. Throws where one is missing. */
export function filledKey(key: string, names: KeyNames): string {
  return key.replaceAll(/<([^>]+)>/g, (_all, name: string) => {
    const value = names[name]
    if (value === undefined) throw new Error(`the key ${key} lacks its ${name}`)
    return `${value}`
  })
}
