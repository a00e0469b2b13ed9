import { z } from 'zod'

/** What a gateway can do besides taking callbacks. */
export interface Capabilities {
  readonly checkout: boolean
  readonly refund: boolean
  readonly partialRefund: boolean
  readonly poll: boolean
  readonly registerWebhook: boolean
  /** Saved cards can be charged. */
  readonly savedCards: boolean
  /** Its provider can manage subscriptions: it charges each period by itself. */
  readonly subscriptions: boolean
}

/** What is known of a registered gateway: its callback URL, and whether it is configured. */
export interface GatewayDescription {
  readonly name: string
  /** Of which gateway it is an account; its own name if it is none. */
  readonly driver: string
  readonly title: string
  readonly aliases: readonly string[]
  readonly scheme: string
  /** The callback URL of the gateway. */
  readonly webhook_url: string
  /** Whether that URL must be registered at the provider. */
  readonly webhook_requires_dashboard_setup: boolean
  /** If it need not be: the field of a payment request that carries the URL. */
  readonly callbackUrlField: string | null
  readonly configured: boolean
  readonly capabilities: Capabilities
}

/** A registered gateway. */
export const gatewaySchema = z.strictObject({
  name: z.string(),
  driver: z.string(),
  title: z.string(),
  aliases: z.array(z.string()).readonly(),
  scheme: z.string(),
  webhook_url: z.url(),
  webhook_requires_dashboard_setup: z.boolean(),
  callback_url_field: z.string().nullable(),
  configured: z.boolean(),
  capabilities: z.strictObject({
    checkout: z.boolean(),
    refund: z.boolean(),
    partial_refund: z.boolean(),
    poll: z.boolean(),
    register_webhook: z.boolean(),
    saved_cards: z.boolean(),
    subscriptions: z.boolean(),
  }),
})

/** The gateways, by name. */
export const gatewaysSchema = z.record(z.string(), gatewaySchema)

export function gatewayView(gateway: GatewayDescription): z.output<typeof gatewaySchema> {
  const { capabilities } = gateway
  return {
    name: gateway.name,
    driver: gateway.driver,
    title: gateway.title,
    aliases: gateway.aliases,
    scheme: gateway.scheme,
    webhook_url: gateway.webhook_url,
    webhook_requires_dashboard_setup: gateway.webhook_requires_dashboard_setup,
    callback_url_field: gateway.callbackUrlField,
    configured: gateway.configured,
    capabilities: {
      checkout: capabilities.checkout,
      refund: capabilities.refund,
      partial_refund: capabilities.partialRefund,
      poll: capabilities.poll,
      register_webhook: capabilities.registerWebhook,
      saved_cards: capabilities.savedCards,
      subscriptions: capabilities.subscriptions,
    },
  }
}
