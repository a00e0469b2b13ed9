import type { ProviderStandIn } from '../providers/provider-stand-in.ts'

/** The settings of a gateway as environment variables. */
export function providerEnvironment({
  gateway,
  config,
}: Pick<ProviderStandIn, 'gateway' | 'config'>): Record<string, string> {
  const pairs = Object.entries(config).flatMap(([field, value]) => {
    const variable = gateway.credentials[field]?.env[0]
    return variable === undefined ? [] : [[variable, value] as const]
  })
  return Object.fromEntries(pairs)
}
