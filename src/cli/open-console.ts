import type { Hono } from 'hono'
import { consoleSessions } from '../billing/console-sessions.ts'
import { httpSettings } from '../billing/http-settings.ts'
import { processSettings } from '../billing/process-settings.ts'
import { shownSettings } from '../billing/shown-settings.ts'
import { consoleApp } from '../console/console-app.ts'
import { hostsOf, ownMachine } from '../console/hosts.ts'
import { signInLimits } from '../console/limits.ts'
import { oneTimeLink, type OneTimeLink } from '../console/one-time-link.ts'
import { consolePath } from '../http/own-paths.ts'
import { systemClock } from '../kernel/clock.ts'
import { newUuid } from '../kernel/ids.ts'
import { secret, type Secret } from '../kernel/secret.ts'
import type { SettingOperator } from '../operators/sessions.ts'
import { limitsOf } from './cluster-limits.ts'
import { developmentTools } from './development-tools.ts'
import { newRunToken, type Configuration } from './env.ts'
import type { OpenService } from './open-service.ts'

export interface OpenConsole {
  readonly app: Hono
  /** Signs in whoever started the service; undefined in production. */
  readonly link: OneTimeLink | undefined
}

/**
 * `apiToken`: what opens the management API on this port. In development there is always one:
 * the link signs in by it, also where nobody is shown it. Undefined: the console is off.
 */
export function openConsole(
  service: OpenService,
  apiToken: readonly Secret[] | undefined,
): OpenConsole | undefined {
  const { core, runtime, configuration, commandLog } = service
  const { options, runToken = newRunToken() } = configuration
  if (!isConsoleOn(configuration)) return undefined
  const settings = operatorsOf(
    configuration,
    apiToken ?? (options.production ? undefined : [secret(runToken)]),
  )
  const api = settings.find(({ name }) => name === 'api')
  const link =
    api === undefined || options.production
      ? undefined
      : oneTimeLink({
          operator: api,
          secret: secret(runToken),
          now: systemClock,
          newId: newUuid,
        })
  const app = consoleApp({
    core: core.forPeople(),
    path: consolePath,
    isHost: hostsOf([...ownMachine, new URL(core.origin).hostname, ...configuration.console.hosts]),
    access: {
      kind: 'sessions',
      sessions: consoleSessions(runtime, settings),
      limits: signInLimits(commandLog.log, limitsOf(configuration)),
      link,
    },
    links: {},
    production: options.production,
    development: options.production ? undefined : developmentTools(service),
    isEmbedded: options.database.url === undefined,
    ownSettings: shownSettings(
      { ...processSettings, http: httpSettings },
      { ...configuration },
      runtime.settings.scrub,
    ),
    log: commandLog.log,
    now: systemClock,
    newId: newUuid,
  })
  return { app, link }
}

/** What a person opens: in development it signs in, once, within ten minutes. */
export function consoleUrl(url: string, { link }: OpenConsole): string {
  if (link === undefined) return url + consolePath
  return `${url}${consolePath}/sign-in/once?key=${link.make()}`
}

/** In development without being asked for. */
export function isConsoleOn({ console, options }: Configuration): boolean {
  return console.on ?? !options.production
}

function operatorsOf(
  { readToken }: Configuration,
  apiToken: readonly Secret[] | undefined,
): readonly SettingOperator[] {
  return [
    ...(apiToken ?? []).map((token) => ({ name: 'api', role: 'operator', token }) as const),
    ...(readToken ?? []).map((token) => ({ name: 'read', role: 'viewer', token }) as const),
  ]
}
