import { factsOf } from '../kernel/noun-text.ts'
import { subscriptionNoun, type ListedSubscription } from '../wire/subscription.ts'
import { print, visible } from './output.ts'

/** What other facts say. */
const saidElsewhere = ['plan', 'amount', 'currency', 'every', 'card', 'renewable']

/** A subscription as it stands, one fact per line. */
export function printSubscription(subscription: ListedSubscription): void {
  for (const [label, text] of factsOf(subscriptionNoun.facts, subscription, saidElsewhere)) {
    print(visible(label.padEnd(13) + text))
  }
}
