import type { BillingOptions } from '../billing/options.ts'
import { builtin } from '../gateways/builtin.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { CredentialField } from '../gateways/credential-fields.ts'
import { refuseDescriptorFaults } from '../gateways/registry.ts'

/** The same options, with what every gateway needs to sign and verify; given values win. Error: `setting_invalid`. */
export function withTestCredentials(options: BillingOptions): BillingOptions {
  const gateways: Record<string, Readonly<Record<string, string>>> = { ...options.gateways }
  const { extraGateways = [] } = options
  extraGateways.forEach(refuseDescriptorFaults)
  for (const gateway of [...builtin, ...extraGateways]) {
    gateways[gateway.name] = { ...testCredentials(gateway), ...gateways[gateway.name] }
  }
  return { ...options, gateways }
}

/** A value for each setting that the gateway needs to verify, and to sign for tests. */
export function testCredentials(
  gateway: Pick<Gateway, 'name' | 'credentials'>,
  owner = 'test',
): Readonly<Record<string, string>> {
  const needed = Object.entries(gateway.credentials).filter(([, field]) => isNeeded(field))
  return Object.fromEntries(
    needed.map(([name, field]) => [name, valueOf(gateway.name, { name, field }, owner)]),
  )
}

function valueOf(
  gateway: string,
  { name, field }: { readonly name: string; readonly field: CredentialField },
  owner: string,
): string {
  if (field.isSwitch) return 'on'
  return field.sample?.(owner) ?? `${owner}_${name}_of_${gateway}`
}

function isNeeded(field: CredentialField): boolean {
  return field.sample !== undefined || (field.required && field.default === undefined)
}
