/** The JSON name of a library field: `return_url` for `returnUrl`. */
export function snakeCase(field: string): string {
  return separated(field, '_')
}

/** The same as part of a flag: `return-url`. */
export function kebabCase(field: string): string {
  return separated(field, '-')
}

function separated(field: string, separator: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => separator + letter.toLowerCase())
}
