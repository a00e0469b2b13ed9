import type { Command } from 'commander'

type AddCommand = (program: Command) => void

/** By name, in the order of the help. */
const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  serve: async () => (await import('./commands/serve.ts')).addServe,
  work: async () => (await import('./commands/work.ts')).addWork,
  migrate: async () => (await import('./commands/migrate.ts')).addMigrate,
  prune: async () => (await import('./commands/prune.ts')).addPrune,
  reconcile: async () => (await import('./commands/reconcile.ts')).addReconcile,
  backfill: async () => (await import('./commands/backfill.ts')).addBackfill,
  'register-webhook': async () =>
    (await import('./commands/register-webhook.ts')).addRegisterWebhooks,
  find: async () => (await import('./commands/find.ts')).addFind,
  payments: async () => (await import('./commands/payments.ts')).addPayments,
  refund: async () => (await import('./commands/refund.ts')).addRefund,
  'payment-methods': async () => (await import('./commands/payment-methods.ts')).addPaymentMethods,
  subscriptions: async () => (await import('./commands/subscriptions.ts')).addSubscriptions,
  usage: async () => (await import('./commands/usage.ts')).addUsage,
  invoices: async () => (await import('./commands/invoices.ts')).addInvoices,
  poll: async () => (await import('./commands/poll.ts')).addPoll,
  calls: async () => (await import('./commands/calls.ts')).addCalls,
  events: async () => (await import('./commands/events.ts')).addEvents,
  endpoints: async () => (await import('./commands/endpoints.ts')).addEndpoints,
  listen: async () => (await import('./commands/listen.ts')).addListen,
  reviews: async () => (await import('./commands/reviews.ts')).addReviews,
  operators: async () => (await import('./commands/operators.ts')).addOperators,
  listeners: async () => (await import('./commands/listeners.ts')).addListeners,
  gateways: async () => (await import('./commands/gateways.ts')).addGateways,
  send: async () => (await import('./commands/send.ts')).addSend,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
}

/** Adds the command of this name, which is all that it needs to run; all of them for any other name. */
export async function addCommands(program: Command, name: string | undefined): Promise<void> {
  const only = Object.entries(commands).filter(([known]) => known === name)
  const loading = (only.length > 0 ? only : Object.entries(commands)).map(([, load]) => load())
  for (const add of await Promise.all(loading)) add(program)
}
