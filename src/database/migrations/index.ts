import type { Migration } from 'kysely/migration'
import * as pipeline from './0001_pipeline.ts'
import * as referenceLookup from './0002_reference_lookup.ts'
import * as callStorage from './0003_call_storage.ts'
import * as callEncryption from './0004_call_encryption.ts'
import * as moneyBack from './0005_money_back.ts'
import * as moneyOperations from './0006_money_operations.ts'
import * as writtenBy from './0007_written_by.ts'
import * as superseded from './0008_superseded.ts'
import * as references from './0009_references.ts'
import * as commitGuards from './0010_commit_guards.ts'
import * as claims from './0011_claims.ts'
import * as workers from './0012_workers.ts'
import * as installation from './0013_installation.ts'
import * as paymentKeys from './0014_payment_keys.ts'
import * as reviews from './0015_reviews.ts'
import * as declines from './0016_declines.ts'
import * as subscriptions from './0017_subscriptions.ts'
import * as managedSubscriptions from './0018_managed_subscriptions.ts'
import * as usage from './0019_usage.ts'
import * as invoices from './0020_invoices.ts'
import * as feed from './0021_feed.ts'
import * as endpoints from './0022_endpoints.ts'
import * as counts from './0023_counts.ts'
import * as operators from './0024_operators.ts'
import * as attempts from './0025_attempts.ts'
import * as runs from './0026_runs.ts'
import * as refusals from './0027_refusals.ts'
import * as dayTotals from './0028_day_totals.ts'

/** All migrations by name, in order; a static list, so that no file system look-up is needed. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001_pipeline': pipeline,
  '0002_reference_lookup': referenceLookup,
  '0003_call_storage': callStorage,
  '0004_call_encryption': callEncryption,
  '0005_money_back': moneyBack,
  '0006_money_operations': moneyOperations,
  '0007_written_by': writtenBy,
  '0008_superseded': superseded,
  '0009_references': references,
  '0010_commit_guards': commitGuards,
  '0011_claims': claims,
  '0012_workers': workers,
  '0013_installation': installation,
  '0014_payment_keys': paymentKeys,
  '0015_reviews': reviews,
  '0016_declines': declines,
  '0017_subscriptions': subscriptions,
  '0018_managed_subscriptions': managedSubscriptions,
  '0019_usage': usage,
  '0020_invoices': invoices,
  '0021_feed': feed,
  '0022_endpoints': endpoints,
  '0023_counts': counts,
  '0024_operators': operators,
  '0025_attempts': attempts,
  '0026_runs': runs,
  '0027_refusals': refusals,
  '0028_day_totals': dayTotals,
}
