import { kebabCase } from '../kernel/field-names.ts'

/** Flags that are not called as the field is. */
const flags: Readonly<Record<string, string>> = {
  checkout: '--no-checkout',
  paymentMethodId: '--payment-method',
}

/** The flag of a field of the library: `--payable id` of `payable.id`. */
export function flagOf(field: string): string {
  const [name = '', ...part] = field.split('.')
  return [flags[name] ?? `--${kebabCase(name)}`, ...part].join(' ')
}
