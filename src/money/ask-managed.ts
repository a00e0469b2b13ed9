import { ringSubscriptions } from '../database/managed-subscriptions.ts'
import type { OperationContext } from '../gateways/interpret-context.ts'
import { requireGateway, requireOperation } from '../gateways/require.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import type {
  SubscriptionOperations,
  SubscriptionWishRequest,
} from '../gateways/subscription-operations.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Subscription } from '../subscriptions/subscription.ts'
import { askProvider } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import { syncSubscription } from './sync-subscription.ts'

/** What a merchant wishes of a subscription that a provider manages. */
export interface ProviderWish {
  readonly name: 'cancel' | 'pause' | 'resume'
  /** Asks for it; undefined: the provider offers no such thing. */
  ask(
    operations: SubscriptionOperations,
    request: SubscriptionWishRequest,
    operation: OperationContext,
  ): Promise<void> | undefined
}

/**
 * Asks the provider once, under an id made for this call, and then how the subscription stands: its
 * answer alone changes what is stored. No transaction is open. Errors: `operation_unsupported`,
 * `gateway_not_configured`, `gateway_unknown`, `subscription_invalid` for one that has not begun,
 * those of the provider. If the provider did not answer it may have done what was asked: it is asked
 * later how the subscription stands.
 */
export async function askProviderTo(
  known: Subscription,
  wish: ProviderWish,
  context: MoneyContext,
): Promise<Subscription> {
  const { processing } = context
  const { id, providerReference: reference, merchantAccount, live } = known
  const found = requireGateway(processing.gateways, known.gateway)
  const operations = requireWish(found, wish)
  if (reference === null) throw notBegun()
  const request = { reference, merchantAccount, live, wishId: processing.newId() }
  try {
    await askProvider({ of: found, operation: 'change_subscription' }, context, async (operation) =>
      wish.ask(operations, request, operation),
    )
  } catch (error) {
    // A refusal, too, may mean that it stands otherwise than we know.
    await ring(id, context)
    throw error
  }
  return syncSubscription(id, context)
}

/** Best effort: it is asked about from time to time in any case. */
async function ring(id: string, { processing }: MoneyContext): Promise<void> {
  const { database, log, subscriptionTime, wake } = processing
  try {
    await ringSubscriptions(database.db, [id], await subscriptionTime(database.db))
    wake('subscriptions')
  } catch (error) {
    log.warn({ err: error, subscription: id }, 'a provider is not asked at once what it has done')
  }
}

function requireWish(found: RegisteredGateway, { name }: ProviderWish): SubscriptionOperations {
  const operations = requireOperation(found, 'subscriptions')
  if (operations[name] !== undefined) return operations
  const text = `${found.gateway.title} cannot ${name} a subscription that it manages`
  throw new QuittanceError('operation_unsupported', text)
}

function notBegun(): QuittanceError {
  const text = 'nothing of the subscription has been paid yet: its provider has not begun it'
  return new QuittanceError('subscription_invalid', text, {
    fix: 'Wait until it has, or cancel it.',
  })
}
