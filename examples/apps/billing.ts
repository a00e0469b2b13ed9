// billing.ts
import { createBilling } from 'quittance'
import config from './quittance.config.ts'

/** The one of the app. NODE_ENV and the secrets of the gateways come from the environment. */
export const billing = createBilling({ ...config, environment: process.env })
