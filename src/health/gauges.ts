import { mostCounted } from '../database/count-up-to.ts'
import type { Database } from '../database/connect.ts'
import type { GaugeEntry, GaugeValue } from '../numbers/catalogue.ts'
import { lookInto, type Fact, type Look } from './fact.ts'
import { allFacts } from './facts.ts'
import {
  callsInWork,
  failedCalls,
  failedQueued,
  lastAccepted,
  queuedWork,
  sumOfWaiting,
  waitingCalls,
} from './sources.ts'

interface Gauge extends GaugeEntry {
  read(look: Look): Promise<readonly Omit<GaugeValue, 'name'>[]>
}

/** Of work as it should be, too. */
const plain: Readonly<Record<string, Gauge>> = {
  calls: {
    help: 'Stored calls that are not done with, up to 10001 of each state.',
    labels: ['state'],
    read: async ({ ask }) =>
      byState({
        pending: sumOfWaiting(await ask(waitingCalls)).pending,
        processing: await ask(callsInWork),
        failed: await ask(failedCalls),
      }),
  },
  deliveries: {
    help: 'Deliveries to queued listeners, and deferred events, that are not done with, up to 10001 of each.',
    labels: ['state'],
    async read({ ask }) {
      const { pending, processing } = await ask(queuedWork)
      const { deliveries, deferredEvents } = await ask(failedQueued)
      const failed = Math.min(mostCounted, deliveries + deferredEvents)
      return byState({ pending, processing, failed })
    },
  },
  oldest_pending_seconds: {
    help: 'How long the oldest call that is due has been waiting.',
    labels: [],
    read: async ({ ask }) => [
      { labels: {}, value: sumOfWaiting(await ask(waitingCalls)).oldestSeconds },
    ],
  },
  last_accepted_seconds: {
    help: 'Since the last accepted callback, to the minute; absent if there was none in eight days.',
    labels: ['gateway'],
    read: async ({ ask }) =>
      (await ask(lastAccepted)).map(({ gateway, seconds }) => ({
        labels: { gateway },
        value: seconds,
      })),
  },
}

function byState(counts: Readonly<Record<string, number>>) {
  return Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }))
}

function ofFact({ find, value: figure = '', gauge }: Fact): Readonly<Record<string, Gauge>> {
  if (gauge === undefined) return {}
  const { name, help, labels = {} } = gauge
  const read: Gauge['read'] = async (look) =>
    (await find(look)).map((found) => ({
      labels: Object.fromEntries(
        Object.entries(labels).map(([label, from]) => [label, String(found[from])]),
      ),
      value: Number(found[figure]),
    }))
  return { [name]: { help, labels: Object.keys(labels), read } }
}

/** What stands in the database; it is read when somebody asks, and the same for every process. */
const read: Readonly<Record<string, Gauge>> = Object.assign({}, plain, ...allFacts.map(ofFact))

export const gauges: Readonly<Record<string, GaugeEntry>> = {
  ...read,
  database_up: {
    help: 'Whether the database answered within two seconds; if not, it is the only gauge.',
    labels: [],
  },
}

/**
 * What monitoring asks of the database. Each statement is bounded by its indexes. What fails is left
 * out, and given to `onError`.
 */
export function readGauges(
  database: Database,
  gateways: readonly string[],
  onError: (error: unknown) => void,
): Promise<readonly GaugeValue[]> {
  return lookInto(database, gateways, async (look) => {
    const values: GaugeValue[] = []
    for (const [name, gauge] of Object.entries(read)) {
      try {
        for (const { labels, value } of await gauge.read(look)) values.push({ name, labels, value })
      } catch (error) {
        onError(error)
      }
    }
    return values
  })
}
