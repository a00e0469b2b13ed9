import { kebabCase } from '../kernel/field-names.ts'

/** Flags that have another name than their field. */
const flags: Readonly<Record<string, string>> = {
  checkout: '--no-checkout',
  paymentMethodId: '--payment-method',
}

/** The flag of a field of the library: `--payable id` of `payable.id`. */
export function flagOf(field: string): string {
  const [name = '', ...part] = field.split('.')
  return [flags[name] ?? `--${kebabCase(name)}`, ...part].join(' ')
}
