import type { Context } from 'hono'
import type { z } from 'zod'
import type { BillingCore } from '../../billing/types.ts'
import type { Log } from '../../kernel/log.ts'
import type { ApiErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What every route works with. */
export interface ApiContext {
  readonly core: BillingCore
  readonly log: Log
  /** Called when the service stops: whoever waits is answered, and streams end. */
  readonly closing?: AbortSignal | undefined
}

/** A body of JSON: what it may be, and how it is read. */
export interface BodyForm<Body> {
  /** As callers see it, in the names of JSON. */
  readonly schema: z.ZodType
  /** Checks it and gives it the names of the library. Throws what the caller is answered. */
  readonly read: (given: unknown) => Body
  /** No body is read as `{}`. */
  readonly mayBeEmpty?: boolean
  /** The longest that is read, in bytes; 64 KiB if left out. */
  readonly mostBytes?: number
}

/** An answer that is no JSON: what each media type holds. The handler makes the `Response`. */
export interface TextForm {
  readonly text: Readonly<Record<string, string>>
}

/** What a route answers where it does what is asked, by status. */
export type AnswerForms = Readonly<Record<number, z.ZodType | TextForm>>

/** One of those answers. */
export type AnswerOf<Forms extends AnswerForms> = {
  [Status in keyof Forms]: Forms[Status] extends z.ZodType
    ? { readonly status: Status; readonly body: z.output<Forms[Status]> }
    : Response
}[keyof Forms]

/** The names in braces: `id` of `/payments/{id}/poll`. */
export type ParamsIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsIn<Rest>
  : never

/** A request as it was read; the queries and bodies fit their schemas. */
export interface ApiRequest<Param extends string, Query, Body> extends ApiContext {
  readonly params: Readonly<Record<Param, string>>
  readonly query: Query
  readonly body: Body
  /** The request itself: its headers, and the signal that says that nobody waits any more. */
  readonly c: Context
}

/** What each part of a path in braces is; a path without any needs none. */
type ParamForms<Path extends string> = [ParamsIn<Path>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<ParamsIn<Path>, z.ZodType>> }

type RouteForm<Path extends string, Query, Body, Forms extends AnswerForms> = ParamForms<Path> & {
  /** What clients that are made of the document call it: a verb, and what of. */
  readonly name: string
  readonly method: Method
  /** Below `/billing/api`: `/payments/{id}`. */
  readonly path: Path
  /** What it does, in a few words, such as `Creates a payment`. */
  readonly summary: string
  /** What is good to know before it is asked. */
  readonly description?: string
  /** Without it, whatever the query says is ignored. */
  readonly query?: z.ZodType<Query>
  /** Without it, no body is read. */
  readonly body?: BodyForm<Body>
  readonly answers: Forms
  /** Why it may refuse; each code has its status. */
  readonly errors?: readonly ApiErrorCode[]
  /** False of a change that comes so often; true of what hands out many rows. Otherwise: changes. */
  readonly isRecorded?: boolean
  readonly handle: (
    request: ApiRequest<ParamsIn<Path>, Query, Body>,
  ) => AnswerOf<Forms> | Promise<AnswerOf<Forms>>
}

/** A route of the management API as data: one loop mounts them all, another documents them. */
export interface Route {
  readonly name: string
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly params?: Readonly<Record<string, z.ZodType>>
  readonly query?: z.ZodType
  readonly body?: BodyForm<unknown>
  readonly answers: AnswerForms
  readonly errors?: readonly ApiErrorCode[]
  readonly isRecorded?: boolean
  readonly handle: (
    request: ApiRequest<string, unknown, unknown>,
  ) => JsonAnswer | Response | Promise<JsonAnswer | Response>
}

export interface JsonAnswer {
  readonly status: number
  readonly body: unknown
}

/** Holds the parts of a route to each other: what it reads, what it handles, what it answers. */
export function route<Path extends string, Query, Body, const Forms extends AnswerForms>(
  form: RouteForm<Path, Query, Body, Forms>,
): Route {
  return form as unknown as Route
}
