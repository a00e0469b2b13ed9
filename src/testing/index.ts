/** For tests of your app: real callbacks through the real pipeline, on a database in memory. */
export { openTestBilling } from './open-test-billing.ts'
export type { TestBilling } from './open-test-billing.ts'
export { everyOrder, shuffled } from './orders.ts'
export type { EventRecorder } from './record-events.ts'
export type { IdleOptions } from './idle.ts'
export { signedRequest } from './signed-request.ts'
export type { CallbackStatement, SignedRequestOptions } from './signed-request.ts'
export type { SignedPayment } from '../gateways/sign-callback.ts'
