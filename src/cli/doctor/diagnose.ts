import { gatewaySecrets, settingSecrets } from '../../billing/setting-secrets.ts'
import { seconds } from '../../kernel/duration.ts'
import { scrubber } from '../../kernel/secret.ts'
import { within } from '../../kernel/within.ts'
import { besideService } from '../beside-service.ts'
import { inspectConfiguration } from '../env.ts'
import { checkDataFolder } from './check-data-folder.ts'
import { checkDatabase } from './check-database.ts'
import { healthChecks } from './check-health.ts'
import { checkPublicUrl } from './check-public-url.ts'
import { checkRegistration } from './check-registration.ts'
import { checkSecrets } from './check-secrets.ts'
import { checkSettings } from './check-settings.ts'
import { checkWork } from './check-work.ts'
import { thrown, type Finding } from './finding.ts'
import { openForDiagnosis, unanswered, type DatabaseState } from './open-for-diagnosis.ts'
import { installationOf, type Installation } from './installation.ts'

type Check = (installation: Installation) => readonly Finding[] | Promise<readonly Finding[]>

const checks: Readonly<Record<string, Check>> = {
  settings: checkSettings,
  secrets: checkSecrets,
  data_folder: checkDataFolder,
  database: checkDatabase,
  work: checkWork,
  ...healthChecks,
  public_url: checkPublicUrl,
  registration: checkRegistration,
}

const limit = seconds(10)

/** Checks everything, whatever is broken; no check waits for another, and none for ever. */
export async function diagnose(): Promise<readonly Finding[]> {
  const read = await bounded(() => inspectConfiguration(), 'the settings were not read')
  const inspected = { ...read, configuration: besideService(read.configuration).configuration }
  const database = await bounded(() => openForDiagnosis(inspected.configuration)).catch(
    (cause: unknown): DatabaseState => ({ kind: 'closed', why: unanswered, cause }),
  )
  const installation: Installation = { ...installationOf(inspected), database }
  try {
    const groups = await Promise.all(
      Object.entries(checks).map(([name, check]) =>
        bounded(async () => check(installation)).catch((cause: unknown) => [
          thrown(name, cause, 'Fix the other findings first, then run it again.'),
        ]),
      ),
    )
    return withoutSecrets(groups.flat(), installation)
  } finally {
    if (database.kind === 'open') await bounded(() => database.database.close()).catch(() => {})
  }
}

function bounded<T>(work: () => Promise<T>, late = 'no answer'): Promise<T> {
  return within(limit, () => new Error(`${late} within ${limit / 1000} s`), work)
}

/** A shorter text would blank out our own words. */
const shortestScrubbed = 8

/** Errors of drivers and configuration files may repeat their input. */
function withoutSecrets(
  findings: readonly Finding[],
  installation: Installation,
): readonly Finding[] {
  const { inspected, gateways } = installation
  const { configuration, variables } = inspected
  const secrets = [
    ...settingSecrets({ ...configuration.options }, variables),
    ...gateways.flatMap((gateway) => gatewaySecrets(gateway, variables)),
  ]
  const scrub = scrubber(secrets.filter((one) => one.reveal().length >= shortestScrubbed))
  return findings.map((finding) => ({ ...finding, found: scrub(finding.found) }))
}
