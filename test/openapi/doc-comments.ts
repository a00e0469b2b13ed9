import { snakeCase } from '../../src/kernel/field-names.ts'
import { read } from '../tidy/source-files.ts'

/** What the doc comments of a type say, in the names of JSON. */
export interface DocComments {
  /** Of the type itself. */
  readonly whole: string | undefined
  /** Of its fields that have one. */
  readonly fields: ReadonlyMap<string, string>
}

/** Of a type, interface or table, such as `payments/payment.ts#Payment`. Fails if there is none. */
export function docCommentsOf(reference: string): DocComments {
  const [path = '', name = ''] = reference.split('#')
  const text = read(`src/${path}`)
  const declared = new RegExp(
    String.raw`(?:/\*\*((?:(?!\*/)[^])*)\*/\n)?export (?:interface|type|const) ${name}\b(?:<[^>]*>)?[^\n]*(?:\{\n|\{\}|=)([^]*?)(?:\n\}|\n\n|$)`,
  ).exec(text)
  if (declared === null) throw new Error(`${path} declares no ${name}`)
  const [, whole, body = ''] = declared
  const commented = body.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\n\s*(?:readonly )?(\w+)\??:/g)
  const fields = Array.from(commented, ([, comment = '', field = '']) => {
    return [snakeCase(field), inJson(comment)] as const
  })
  return { whole: whole && inJson(whole), fields: new Map(fields) }
}

/** What the row of an event says of it. Fails if it says nothing. */
export function commentOfEvent(type: string): string {
  const tables = [
    'events/catalogue.ts#paymentEvents',
    'subscriptions/events.ts#subscriptionEvents',
    'events/catalogue.ts#otherEvents',
  ]
  const said = tables.map((table) => docCommentsOf(table).fields.get(snakeCase(type)))
  const comment = said.find((one) => one !== undefined)
  if (comment === undefined) throw new Error(`the row of ${type} has no doc comment`)
  return comment
}

/** On one line, with the names of fields as JSON spells them. What a tag says is for TypeScript. */
function inJson(comment: string): string {
  const [prose = ''] = comment.split(/^\s*\* @/m, 1)
  return prose
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trim())
    .join(' ')
    .trim()
    .replaceAll(/`([a-z]+[A-Z]\w*)`/g, (_all, name: string) => `\`${snakeCase(name)}\``)
}
