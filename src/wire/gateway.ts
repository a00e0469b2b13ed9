import { z } from 'zod'
import * as field from '../kernel/noun.ts'
import { listOf, orNull, viewOf, type Values } from '../kernel/noun.ts'
import { schemaOf } from './noun.ts'

const capabilityFields = {
  checkout: field.flag(),
  refund: field.flag(),
  partialRefund: field.flag(),
  poll: field.flag(),
  registerWebhook: field.flag(),
  /** Saved cards can be charged. */
  savedCards: field.flag(),
  /** Its provider can manage subscriptions: it charges each period by itself. */
  subscriptions: field.flag(),
}

/** What a gateway can do besides taking callbacks. */
export interface Capabilities extends Values<typeof capabilityFields> {}

export const gatewayFields = {
  name: field.text(),
  /** Of which gateway it is an account; its own name if it is none. */
  driver: field.text(),
  title: field.text(),
  aliases: listOf(field.text()),
  scheme: field.text(),
  /** The callback URL of the gateway. */
  webhook_url: field.text(),
  /** Whether that URL must be registered at the provider. */
  webhook_requires_dashboard_setup: field.flag(),
  /** If it need not be: the field of a payment request that carries the URL. */
  callbackUrlField: orNull(field.text()),
  configured: field.flag(),
  capabilities: field.part(capabilityFields),
}

/** What is known of a registered gateway: its callback URL, and whether it is configured. */
export interface GatewayDescription extends Values<typeof gatewayFields> {}

/** A registered gateway. */
export const gatewaySchema = schemaOf(gatewayFields).extend({ webhook_url: z.url() })

/** The gateways, by name. */
export const gatewaysSchema = z.record(z.string(), gatewaySchema)

export const gatewayView = viewOf(gatewayFields)
