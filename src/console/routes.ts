import type { Action } from './action.ts'
import type { Visit } from './context.ts'
import type { ConsolePage } from './page.ts'

/**
 * A page of the console, or something to do; the path is below that of the console. A shared page is
 * the same for all who have the same role, so that its refreshes need not be made for each of them.
 */
export type ConsoleRoute =
  | { readonly path: string; readonly page: ShowPage; readonly isShared?: false }
  | { readonly path: string; readonly page: ShowSharedPage; readonly isShared: true }
  | { readonly path: string; readonly action: Action }

/** Undefined: there is no such thing. A `Response` is for what is no page: a file. */
export type ShowPage = (visit: Visit) => Promise<ConsolePage | Response | undefined>

export type ShowSharedPage = (visit: Visit) => Promise<ConsolePage | undefined>
