import { z } from 'zod'
import { stuckKinds } from '../database/stuck-payments.ts'
import { failedKinds } from '../inspect/failed-groups.ts'
import type { FailedReportQuery } from '../inspect/failed.ts'
import { overviewSpans } from '../inspect/overview.ts'
import type { StuckQuery } from '../inspect/stuck.ts'
import type { TotalsQuery } from '../inspect/totals.ts'
import type { OverviewQuery } from './inspect-types.ts'

type RulesOf<Query> = Readonly<Record<keyof Query, z.ZodType>>

const oneOf = <const Value extends string>(values: readonly Value[]) =>
  z.enum(values, `must be one of ${values.join(', ')}`)

export const overviewQuery = z.object({
  span: oneOf(overviewSpans).optional(),
} satisfies RulesOf<OverviewQuery>)

export const stuckQuery = z.object({
  stuck: oneOf(stuckKinds),
  limit: z.unknown().optional(),
  cursor: z.unknown().optional(),
} satisfies RulesOf<StuckQuery>)

export const failedReportQuery = z.object({
  kind: oneOf(failedKinds).optional(),
} satisfies RulesOf<FailedReportQuery>)

export const totalsQuery = z.object({
  from: z.string('must be a day such as 2026-11-26'),
  to: z.string('must be a day such as 2026-11-26'),
} satisfies RulesOf<TotalsQuery>)
