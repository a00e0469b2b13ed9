import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { QuittanceError } from '../kernel/errors.ts'
import type { ConfigFileOptions } from '../billing/options.ts'

const fileNames = ['quittance.config.ts', 'quittance.config.js', 'quittance.config.mjs']

const fn = z.custom<() => unknown>((value) => typeof value === 'function', 'must be a function')
const anything = z.custom<unknown>((value) => value !== undefined, 'must not be undefined')

const listeners = z.custom<unknown>(
  (value) => (Array.isArray(value) ? value.every(isListener) : isListener(value)),
  'must be a function, { listener: function }, or a list of these',
)

/** The shape, so that a misspelt key is named; the core checks what the values mean. */
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
  http: z
    .strictObject({
      max_connections: z.int().min(10).max(1_000_000).optional(),
      connections_per_address: z.int().positive().max(1_000_000).optional(),
      keep_alive_seconds: z.int().positive().max(3_600).optional(),
    })
    .optional(),
  billing: z
    .strictObject({
      queue: z
        .strictObject({ connection: z.string().nullish(), queue: z.string().nullish() })
        .optional(),
      encryption_key: z.string().optional(),
    })
    .optional(),
  review: z.strictObject({ unknown_payments: z.boolean().optional() }).optional(),
  gateways: z.record(z.string(), z.record(z.string(), z.string())).optional(),
  extraGateways: z.array(anything).optional(),
  listeners: z.record(z.string(), listeners).optional(),
  production: z.boolean().optional(),
  return_origins: z.array(z.string()).optional(),
  providerTimeoutMs: z.int().positive().optional(),
  listenerBudgetMs: z.int().positive().optional(),
})

function isListener(value: unknown): boolean {
  if (typeof value === 'function') return true
  if (typeof value !== 'object' || value === null) return false
  return typeof (value as { readonly listener?: unknown }).listener === 'function'
}

/** The configuration file of the folder, if any. */
export function configFileName(folder: string): string | undefined {
  return fileNames.find((candidate) => existsSync(join(folder, candidate)))
}

/** The default export of the folder's quittance.config file; without a file, nothing. */
export async function loadConfigFile(folder: string): Promise<ConfigFileOptions> {
  const name = configFileName(folder)
  if (name === undefined) return {}
  const config = await importDefault(join(folder, name), name)
  const parsed = schema.safeParse(config)
  if (parsed.success) return config as ConfigFileOptions
  const [issue] = parsed.error.issues
  const place = issue?.path.join('.') ?? ''
  const reason = `${issue?.message ?? 'not valid'}${issue === undefined ? '' : allowedKeys(issue)}`
  throw invalidFile(name, `${place === '' ? '' : `${place}: `}${reason}`)
}

/** For an unknown key: the known ones beside it. */
function allowedKeys({ code, path }: z.core.$ZodIssue): string {
  if (code !== 'unrecognized_keys') return ''
  let place = z.toJSONSchema(schema, { unrepresentable: 'any' })
  for (const key of path) place = (place.properties?.[String(key)] ?? {}) as typeof place
  return `; the keys are ${Object.keys(place.properties ?? {}).join(', ')}`
}

async function importDefault(path: string, name: string): Promise<unknown> {
  let loaded: { readonly default?: unknown }
  try {
    loaded = (await import(pathToFileURL(path).href)) as { readonly default?: unknown }
  } catch (error) {
    throw invalidFile(placeOf(error, name), messageOf(error), error)
  }
  if (loaded.default === undefined) {
    throw invalidFile(
      name,
      'it has no default export; write `export default defineConfig({ ... })`',
    )
  }
  return loaded.default
}

/** The file, with the line if Node gives it. */
function placeOf(error: unknown, name: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const [, line] = /quittance\.config\.\w+:(\d+)/.exec(stack) ?? []
  return line === undefined ? name : `${name}:${line}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function invalidFile(place: string, reason: string, cause?: unknown): QuittanceError {
  return new QuittanceError('setting_invalid', `${place}: ${reason}`, {
    cause,
    fix: 'Correct the file; docs/configuration.md describes it.',
  })
}
