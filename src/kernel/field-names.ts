/** What the field `returnUrl` of the library is called in JSON: `return_url`. */
export function snakeCase(field: string): string {
  return separated(field, '_')
}

/** The same as a part of a flag: `return-url`. */
export function kebabCase(field: string): string {
  return separated(field, '-')
}

function separated(field: string, separator: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => separator + letter.toLowerCase())
}
