// lib/billing.ts
import { sharedBilling, type Billing } from 'quittance'
import config from '../quittance.config'

/** The one billing of the server, however often Next.js loads this file. */
export function getBilling(): Billing {
  // NODE_ENV and the secrets of the gateways come from the environment.
  return sharedBilling({ ...config, environment: process.env })
}
