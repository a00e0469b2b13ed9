import { createBilling } from 'quittance'
import config from './quittance.config.ts'

export const billing = createBilling({ ...config, environment: process.env })
