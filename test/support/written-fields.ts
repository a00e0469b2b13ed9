/**
 * Who can make a field of a report hold what he wants:
 * - `provider`: nobody but the provider, whose own ids and findings these are;
 * - `server`: our server, with a key, by what it asked the provider for;
 * - `page`: whatever runs in the payer's browser, so the payer as well;
 * - `payer`: the payer, by a form, a URL, or because the provider does not sign it;
 * - `anybody`: whoever can have the provider sign a report to us.
 */
export type Writer = 'provider' | 'server' | 'page' | 'payer' | 'anybody'

/** A field of a report, by its path within what the provider signs, and who can write it. */
export type WrittenFields = Readonly<Record<string, Writer>>

/** The paths of the fields that these can write. */
export function pathsOf(fields: WrittenFields, writers: readonly Writer[]): readonly string[] {
  return Object.entries(fields).flatMap(([path, writer]) =>
    writers.includes(writer) ? [path] : [],
  )
}
