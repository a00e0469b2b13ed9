import { id, orNull, type Field, type Fields, type Values } from './noun.ts'
import { readFields, writeFields, type StoredData } from './stored-fields.ts'

/** What a type of event carries and stores, and its key. */
export interface EventShape {
  /** What listeners and other systems get, in addition to what all events have. */
  readonly carries: Carried
  /** What it stores besides, for those who write and read it. */
  readonly keeps?: Fields
  /** The dedup key. A name in angle brackets stands for an id, or for what the name says. */
  readonly key: string
  /** What leads to it. */
  readonly firedBy: string
}

/** A field of it is a fact, which the event stores, a subject, or what follows from the subjects. */
export type Carried = Readonly<
  Record<string, Field<unknown, unknown> | Subject | Following<unknown, unknown>>
>

/** What an event is about, named by its field. It is read when the event is dispatched. */
export interface Subject<Stored extends boolean = boolean, Nullable extends boolean = boolean> {
  /** Its id is a fact of the event; otherwise the row of the event says which one it is. */
  readonly isStored: Stored
  readonly isNullable: Nullable
}

/** What follows from the subjects; in JSON it is like a fact. */
export interface Following<Value, Json = Value> {
  readonly follows: Field<Value, Json>
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

export function following<Value, Json>(follows: Field<Value, Json>): Following<Value, Json> {
  return { follows }
}

export function isFact(field: Carried[string]): field is Field<unknown, unknown> {
  return 'kind' in field
}

export function isSubject(field: Carried[string]): field is Subject {
  return 'isStored' in field
}

/** What an event of a shape stores: its facts, and ids of subjects. */
export type StoredOf<Shape extends EventShape> = {
  readonly [
    Name in keyof Shape['carries'] & string as StoredName<Name, Shape['carries'][Name]>
  ]: StoredValue<Shape['carries'][Name]>
} & (Shape extends { readonly keeps: infer Kept extends Fields } ? Values<Kept> : unknown)

type StoredName<Name extends string, Of> =
  Of extends Subject<infer Stored>
    ? Stored extends true
      ? `${Name}Id`
      : never
    : Of extends Following<infer _, infer __>
      ? never
      : Name
type StoredValue<Of> =
  Of extends Subject<true, infer Nullable>
    ? string | (Nullable extends true ? null : never)
    : Of extends Field<infer Value, infer _>
      ? Value
      : never

function storedFields({ carries, keeps }: EventShape): Fields {
  const stored = Object.entries(carries).flatMap(([name, field]) => {
    if (isFact(field)) return [[name, field] as const]
    if (!isSubject(field) || !field.isStored) return []
    return [[`${name}Id`, field.isNullable ? orNull(id(name)) : id(name)] as const]
  })
  return { ...Object.fromEntries(stored), ...keeps }
}

/** What an event of this shape stores of itself. */
export function writeStored(shape: EventShape, values: object): StoredData {
  return writeFields(storedFields(shape), values as StoredData)
}

/** The same read back; `fault`: the name of what is not as we write it. */
export function readStored(shape: EventShape, stored: StoredData): ReturnType<typeof readFields> {
  return readFields(storedFields(shape), stored)
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
