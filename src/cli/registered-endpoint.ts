import { driverOf } from '../gateways/accounts.ts'
import { builtinSummaries } from '../gateways/builtin-summaries.ts'
import type { Gateway } from '../gateways/gateway.ts'

const ending = '-register-webhook'

/** The command that registers the callback URL of a gateway, under one of its names. */
export function registerCommand(name: string): string {
  return name + ending
}

/** What to type to register the callback URL of this very gateway. */
export function registerLine(gateway: Gateway): string {
  const driver = driverOf(gateway)
  const command = registerCommand(driver)
  return driver === gateway.name ? command : `${command} --gateway ${gateway.name}`
}

/** How to register it by hand. */
export function registerFix(gateway: Gateway): string {
  return builtinSummaries.some(({ name }) => name === driverOf(gateway))
    ? `Run: quittance ${registerLine(gateway)}`
    : `Register it by billing.registration, or in the dashboard of ${gateway.title}.`
}
