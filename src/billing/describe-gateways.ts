import { driverOf } from '../gateways/accounts.ts'
import { capabilitiesOf } from '../gateways/capabilities.ts'
import { requireGateway } from '../gateways/require.ts'
import { addressesOf } from './money-context.ts'
import type { Settings } from './settings.ts'
import type { GatewayDescription } from '../wire/gateway.ts'

/** Lists canonical names; aliases are found, too. */
export function describeGateways(settings: Settings): Readonly<Record<string, GatewayDescription>> {
  const descriptions: Record<string, GatewayDescription> = {}
  for (const { gateway, credentials } of settings.gateways.list()) {
    const description: GatewayDescription = {
      name: gateway.name,
      driver: driverOf(gateway),
      title: gateway.title,
      aliases: gateway.aliases,
      scheme: gateway.scheme,
      webhook_url: webhookUrl(settings, gateway.name),
      webhook_requires_dashboard_setup: gateway.webhook_requires_dashboard_setup,
      callbackUrlField: gateway.callbackUrlField ?? null,
      configured: credentials.configured,
      capabilities: capabilitiesOf(gateway),
    }
    descriptions[gateway.name] = description
    for (const alias of gateway.aliases) {
      Object.defineProperty(descriptions, alias, { value: description, enumerable: false })
    }
  }
  return descriptions
}

/** Follows the configured path and origin; aliases lead to the canonical name. */
export function webhookUrl(settings: Settings, gateway: string): string {
  const { name } = requireGateway(settings.gateways, gateway).gateway
  return addressesOf(settings).callbackUrl(name)
}
