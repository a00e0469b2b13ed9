import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { QuittanceError } from '../kernel/errors.ts'
import type { BillingOptions } from '../billing/options.ts'

const fileNames = ['quittance.config.ts', 'quittance.config.js', 'quittance.config.mjs']

const fn = z.custom<() => unknown>((value) => typeof value === 'function', 'must be a function')
const anything = z.custom<unknown>((value) => value !== undefined, 'must not be undefined')

/** The shape, so that a misspelt key is named; what the values mean is checked by the core. */
const schema = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).optional(),
  database: z
    .strictObject({
      url: z.string().optional(),
      dataDir: z.string().optional(),
      memory: z.boolean().optional(),
      allowEmbeddedInProduction: z.boolean().optional(),
      poolSize: z.int().min(2).optional(),
    })
    .optional(),
  webhook: z
    .strictObject({
      path: z.string().optional(),
      middleware: z.array(fn).optional(),
      prune_after_days: z.int().positive().optional(),
      max_body_bytes: z.int().positive().optional(),
    })
    .optional(),
  billing: z
    .strictObject({
      queue: z
        .strictObject({ connection: z.string().optional(), queue: z.string().optional() })
        .optional(),
    })
    .optional(),
  gateways: z.record(z.string(), z.record(z.string(), z.string())).optional(),
  extraGateways: z.array(anything).optional(),
  listeners: z.record(z.string(), anything).optional(),
  production: z.boolean().optional(),
  log: anything.optional(),
})

/** The default export of the folder's quittance.config file; without a file, nothing. */
export async function loadConfigFile(folder: string): Promise<BillingOptions> {
  const name = fileNames.find((candidate) => existsSync(join(folder, candidate)))
  if (name === undefined) return {}
  const config = await importDefault(join(folder, name), name)
  const parsed = schema.safeParse(config)
  if (parsed.success) return config as BillingOptions
  const [issue] = parsed.error.issues
  const place = issue?.path.join('.') ?? ''
  throw invalidFile(name, `${place === '' ? '' : `${place}: `}${issue?.message ?? 'not valid'}`)
}

async function importDefault(path: string, name: string): Promise<unknown> {
  let loaded: { readonly default?: unknown }
  try {
    loaded = (await import(pathToFileURL(path).href)) as { readonly default?: unknown }
  } catch (error) {
    throw invalidFile(name, error instanceof Error ? error.message : String(error), error)
  }
  if (loaded.default === undefined) {
    throw invalidFile(
      name,
      'it has no default export; write `export default defineConfig({ ... })`',
    )
  }
  return loaded.default
}

function invalidFile(name: string, reason: string, cause?: unknown): QuittanceError {
  return new QuittanceError('setting_invalid', `${name}: ${reason}`, { cause })
}
