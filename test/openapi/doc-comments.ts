import { snakeCase } from '../../src/kernel/field-names.ts'
import { read } from '../tidy/source-files.ts'

/** What the doc comments of a type say, in the names of JSON. */
export interface DocComments {
  /** Of the type itself. */
  readonly whole: string | undefined
  /** Of its fields that have one. */
  readonly fields: ReadonlyMap<string, string>
}

/** Of a type or interface, such as `payments/payment.ts#Payment`. Fails if there is none. */
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
