import { mostReaders } from '../../outbound/feed-watch.ts'
import { QuittanceError } from '../../kernel/errors.ts'

/** Up to here a token may have as many places as it likes: nobody else wants them. */
const freePlaces = (mostReaders * 3) / 4
/** Beyond, only a token that has fewer than these is let in. */
const shareOfToken = mostReaders / 8

/** Places of the feed that readers hold who came with a token, by its name. */
export interface FeedPlaces {
  /** Returns what gives the place back, once. Error: `feed_crowded`. */
  take(who: string): () => void
}

/** The last quarter of the places is shared, so that one token does not keep all others out. */
export function feedPlaces(): FeedPlaces {
  const byToken = new Map<string, number>()
  let taken = 0
  return {
    take(who) {
      const own = byToken.get(who) ?? 0
      if (taken >= freePlaces && own >= shareOfToken) {
        const text = `${own} readers with this token wait here already, and others need a place`
        throw new QuittanceError('feed_crowded', text)
      }
      taken += 1
      byToken.set(who, own + 1)
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        taken -= 1
        const left = (byToken.get(who) ?? 1) - 1
        if (left === 0) byToken.delete(who)
        else byToken.set(who, left)
      }
    },
  }
}

const known = new WeakMap<object, FeedPlaces>()

/** The places of one feed, which its operations stand for. */
export function placesOf(events: object): FeedPlaces {
  const places = known.get(events) ?? feedPlaces()
  known.set(events, places)
  return places
}

/** The same pages; their reader has a place while it reads them. */
export async function* inPlace<Page>(
  take: () => () => void,
  read: () => AsyncIterable<Page>,
): AsyncGenerator<Page, void> {
  const leave = take()
  try {
    yield* read()
  } finally {
    leave()
  }
}
