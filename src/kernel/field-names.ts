/** The name of a field in JSON, or of a setting in a file: `return_url` for `returnUrl`. */
export function snakeCase(field: string): string {
  return separated(field, '_')
}

/** Back again: `returnUrl` for `return_url`. */
export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** The same as part of a flag: `return-url`. */
export function kebabCase(field: string): string {
  return separated(field, '-')
}

/** The same of a type: `'return_url'` for `'returnUrl'`. */
export type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ''

function separated(field: string, separator: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => separator + letter.toLowerCase())
}
