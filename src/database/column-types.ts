import type { ColumnType } from 'kysely'

/** What a `timestamptz` reads as; written by the database's own clock wherever queueing depends on it. */
export type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>
export type NullableTimestamp = ColumnType<
  Date | null,
  Date | string | null | undefined,
  Date | string | null
>
/** `json` is passed as its text, and read back as its text: see connect.ts. */
export type JsonText = ColumnType<string, string, string>
export type NullableJsonText = ColumnType<string | null, string | null | undefined, string | null>
