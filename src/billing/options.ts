import { camelCased } from './check-values.ts'
import type { ConfigFileOptions } from './config-file-options.ts'
import type { NamedGateways, WithNames } from './declared-names.ts'
import type { ListenedToByName, WithListeners } from './listeners-option.ts'
import type { Option } from './setting.ts'
import type { httpSettings } from './http-settings.ts'
import { fileSettings, type optionSettings } from './settings-schema.ts'

// Mapped here, so that errors name these types; key by key, so that editors show the comments.

/** Everything that `createBilling` takes; all of it is optional. */
export type BillingOptions = {
  readonly [K in keyof typeof optionSettings]?: Option<(typeof optionSettings)[K]>
}

/** For the service's own server; an app that mounts the routes has its own. */
export type HttpOptions = {
  readonly [K in keyof typeof httpSettings]?: Option<(typeof httpSettings)[K]>
}

/**
 * Types the default export of quittance.config.ts. Its keys are written as in the documentation
 * (`prune_after_days`). It returns options, which an app may pass to `createBilling`.
 */
export function defineConfig<
  const On extends ListenedToByName,
  const Plan extends string = string,
  const Quota extends string = string,
  const Account extends string = never,
  const Extra extends string = never,
>(
  config: WithNames<WithListeners<ConfigFileOptions, On>, Plan, Quota, Account> & {
    readonly extra_gateways?: NamedGateways<Extra>
  },
): WithNames<BillingOptions, Plan, Quota, Account> & {
  readonly extraGateways?: NamedGateways<Extra>
  readonly http?: HttpOptions
}
export function defineConfig(config: ConfigFileOptions): BillingOptions {
  return camelCased(config, fileSettings) as BillingOptions
}
